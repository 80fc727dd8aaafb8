package widget

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Colours returns how many colours a terminal has by what the environment says of it: all, 256,
// 16, or with ASCII none. TERM is taken at its word: within tmux, too, a TERM that is not of tmux
// was set by somebody, and one that is not known to have more than 16 colours gets 16. NO_COLOR
// with any value means none.
func Colours(environ []string) colorprofile.Profile {
	env := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	kind := env["TERM"]
	if env["NO_COLOR"] != "" || strings.HasPrefix(kind, "vt") || strings.HasSuffix(kind, "-mono") || strings.HasSuffix(kind, "-m") {
		return colorprofile.ASCII
	}
	known := colorprofile.Env(environ)
	switch {
	case known <= colorprofile.ASCII:
		return known
	case !strings.HasPrefix(kind, "tmux") && !strings.HasPrefix(kind, "screen"):
		return max(known, colorprofile.Terminfo(kind))
	case env["TMUX"] == "": // GNU screen
		return known
	case env["COLORTERM"] == "truecolor" || env["COLORTERM"] == "24bit": // tmux turns them into what its terminal has
		return colorprofile.TrueColor
	}
	return max(known, colorprofile.Tmux(environ))
}

// Dark reports whether a terminal has a dark background by COLORFGBG, "foreground;background" in
// the colours of the first sixteen, as those set it that do not answer when they are asked. Nothing
// known is dark.
func Dark(colorfgbg string) bool {
	background := colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:]
	n, err := strconv.Atoi(background)
	return err != nil || n != 7 && (n < 9 || n > 15)
}
