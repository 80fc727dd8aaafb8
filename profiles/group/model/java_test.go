package model

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJavaRandom(t *testing.T) {
	for n, want := range map[int64][]int64{
		100000: {48985, 64588, 41847, 70313, 64254, 14904, 4434, 6606, 39978, 1748},
		1000:   {985, 588, 847, 313, 254, 904, 434, 606, 978, 748},
		1024:   {748, 102, 419, 417, 212, 37},
		5:      {0, 3, 2, 3, 4, 4, 4, 1, 3, 3},
	} {
		r := NewRandom(1)
		for i, v := range want {
			assert.Equal(t, v, r.Intn(n), "%d of nextInt(%d)", i, n)
		}
	}
}

func TestHashOrder(t *testing.T) {
	var puts, gets []string
	for i := range 22 {
		puts = append(puts, "put"+string(itoa(int64(i+1))))
		gets = append(gets, "get"+string(itoa(int64(i+1))))
	}
	for listed, want := range map[string]string{
		"get1,put1":             "put1,get1",
		"put1,get1,put1,get1":   "put1,get1",
		"c,b,a":                 "a,b,c",
		"op1,op2,op3":           "op3,op2,op1",
		"publish1,put1":         "put1,publish1",
		strings.Join(puts, ","): "put10,put21,put20,put12,put11,put22,put4,put14,put5,put13,put6,put16,put7,put15,put18,put1,put17,put2,put3,put19,put8,put9",
		strings.Join(gets, ","): "get17,get16,get15,get14,get19,get18,get20,get1,get2,get3,get13,get4,get12,get5,get11,get22,get6,get10,get21,get7,get8,get9",
		"one":                   "one",
	} {
		assert.Equal(t, want, strings.Join(HashOrder(strings.Split(listed, ",")), ","))
	}
}

func itoa(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
