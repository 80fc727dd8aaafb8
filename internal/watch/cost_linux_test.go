package watch

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkLook tells what a second's samples of two processes cost, and which part of
// them does.
func BenchmarkLook(b *testing.B) {
	for name, f := range map[string]func(b *testing.B){
		"sockets": func(b *testing.B) {
			_, err := connections()
			require.NoError(b, err)
		},
		"threads": func(b *testing.B) {
			_, _, ok := queued(os.Getpid())
			require.True(b, ok)
		},
		"family": func(b *testing.B) { require.Positive(b, FamilyCPU(os.Getppid())) },
		"inodes": func(b *testing.B) {
			_, err := inodes(os.Getpid())
			require.NoError(b, err)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(b)
			}
		})
	}
	var s Set
	s.Put("perfbench", Self(b.Context()))
	s.Put("parent", FindServer(b.Context(), os.Getppid(), "127.0.0.1:1"))
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			s.Sample(b.Context())
		}
	})
}
