// Package request is what is asked of perfbench: the request itself, where its values come
// from (flags, environment, plan files, files of other systems, presets), the plan file as
// text, and what is remembered from one request to the next. The headless command, the
// workbench and the session share these types.
package request
