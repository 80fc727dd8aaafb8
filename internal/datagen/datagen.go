// Package datagen makes the data that profiles store: objects that users define in YAML,
// text that fills a record up to its size and can be checked afterwards, and numbers of
// which a few are frequent and many are rare. Everything derives from the seed and the
// number of the record, so nothing needs to be remembered.
package datagen
