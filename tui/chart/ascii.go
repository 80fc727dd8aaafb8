package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// plain maps the symbols that screens draw to ASCII characters of the same width.
var plain = strings.NewReplacer(
	" → ", " ->", // between two values ">" would be read as greater
	"╭", "+", "╮", "+", "╰", "+", "╯", "+", "─", "-", "│", "|", "┤", "|", "┊", ":", "╎", "!", "╌", "-", "┴", "+", "┬", "+",
	"━", "=", "●", "o", "○", ".", "◆", "*", "▸", ">", "◂", "<", "▶", ">", "▲", "^", "▼", "v", "▾", "|", "▿", ":", "✓", "v", "✗", "x", "‖", "=",
	"·", "|", "→", ">", "←", "<", "↑", "^", "↓", "v", "…", "~", "±", "+", "×", "x", "÷", "/", "≠", "#", "≥", ">", "≤", "<",
	"–", "-", "−", "-", "—", "-", "µ", "u", "μ", "u", "\u2009", " ", "\u00a0", " ", "‘", "'", "’", "'", "“", `"`, "”", `"`,
	"•", "*", "▁", ".", "▂", ":", "▃", "-", "▄", "=", "▅", "+", "▆", "*", "▇", "#", "█", "#", "▓", "#", "▒", "%", "░", ".", "■", "#",
	"▀", "=", "▔", "-", "╱", "/",
	"▏", " ", "▎", "-", "▍", "-", "▌", "=", "▋", "=", "▊", "+", "▉", "#",
)

// ASCII replaces every non-ASCII character by ASCII of the same width: borders become
// +-|, blocks .:-=+*#, braille dots *, and unknown characters "?". Escape codes are
// kept.
func ASCII(s string) string {
	s = plain.Replace(s)
	clean := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == blank:
			b.WriteByte(' ')
		case r > blank && r <= blank+0xff:
			b.WriteByte('*')
		default:
			b.WriteString(strings.Repeat("?", ansi.StringWidth(string(r))))
		}
	}
	return b.String()
}
