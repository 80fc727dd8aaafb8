package widget

import (
	"image/color"
	"math"
	"strconv"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// light is the relative luminance of a colour, as WCAG has it.
func light(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func contrast(a, b string) float64 {
	x, y := light(lipgloss.Color(a)), light(lipgloss.Color(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// hue is that of a colour in degrees.
func hue(c string) float64 {
	r32, g32, b32, _ := lipgloss.Color(c).RGBA()
	r, g, b := float64(r32), float64(g32), float64(b32)
	return math.Atan2(math.Sqrt(3)*(g-b), 2*r-g-b) * 180 / math.Pi
}

// turned is by how many degrees the hues of two colours differ.
func turned(a, b string) float64 { return math.Abs(math.Remainder(hue(a)-hue(b), 360)) }

func TestWordsCanBeReadAndShadesRise(t *testing.T) {
	grounds := [2][]string{{"#FFFFFF", "#FAF7EF"}, {"#000000", "#16181F"}}
	for _, colours := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
		for i, p := range palettes[colours] {
			for _, ground := range grounds[i] {
				for _, c := range []string{p.accent, p.muted, p.ok, p.warn, p.bad} {
					assert.GreaterOrEqual(t, contrast(c, ground), 4.5, "%v %s on %s", colours, c, ground)
				}
			}
			ground := grounds[i][0]
			for k, ramp := range p.ramps {
				assert.Equal(t, p.series[k], ramp[Steps-1], "the head of an area has the colour of its series")
				for n := 1; n < Steps; n++ {
					assert.GreaterOrEqual(t, contrast(ramp[n], ground), contrast(ramp[n-1], ground), "%v %v", colours, ramp)
					assert.LessOrEqual(t, turned(ramp[n], p.series[k]), 15.0, "%v %v: one hue", colours, ramp)
				}
				assert.Greater(t, contrast(ramp[Steps-1], ground), contrast(ramp[0], ground), "%v %v", colours, ramp)
				assert.LessOrEqual(t, turned(ramp[0], p.series[k]), 15.0, "%v %v: one hue", colours, ramp)
			}
			for n := 1; n < Shades; n++ {
				assert.Greater(t, contrast(p.heat[n], ground), contrast(p.heat[n-1], ground), "%v %v: more calls stand out more", colours, p.heat)
			}
		}
	}
}

// sixteen are the colours of xterm and of the text mode of a PC, by their numbers.
var sixteen = [][16]string{
	{"#000000", "#CD0000", "#00CD00", "#CDCD00", "#0000EE", "#CD00CD", "#00CDCD", "#E5E5E5", "#7F7F7F", "#FF0000", "#00FF00", "#FFFF00", "#5C5CFF", "#FF00FF", "#00FFFF", "#FFFFFF"},
	{"#000000", "#AA0000", "#00AA00", "#AA5500", "#0000AA", "#AA00AA", "#00AAAA", "#AAAAAA", "#555555", "#FF5555", "#55FF55", "#FFFF55", "#5555FF", "#FF55FF", "#55FFFF", "#FFFFFF"},
}

func TestSixteenColoursAreTheTerminalsOwn(t *testing.T) {
	for i, p := range palettes[colorprofile.ANSI] {
		all := append([]string{p.accent, p.muted, p.line, p.warn, p.bad}, p.series[:]...)
		for _, ramp := range p.ramps {
			all = append(all, ramp[:]...)
		}
		for _, c := range append(all, p.heat[:]...) {
			assert.IsType(t, lipgloss.Red, lipgloss.Color(c), c)
		}
		ground := [2]string{"#FFFFFF", "#000000"}[i]
		for _, real := range sixteen {
			from := func(c string) float64 {
				n, err := strconv.Atoi(c)
				require.NoError(t, err)
				return contrast(real[n], ground)
			}
			for _, c := range []string{p.accent, p.muted, p.warn, p.bad, p.series[0], p.series[1]} { // the first two name curves in words
				assert.GreaterOrEqual(t, from(c), 4.0, "%s: %s", ground, c)
			}
			for _, c := range []string{p.line, p.heat[0]} {
				assert.GreaterOrEqual(t, from(c), 1.4, "%s: %s is to be seen", ground, c)
			}
			for n := 1; n < Shades; n++ {
				assert.GreaterOrEqual(t, from(p.heat[n]), from(p.heat[n-1])-0.1, "%v: more calls stand out more", p.heat)
			}
			for _, ramp := range p.ramps {
				for n := 1; n < Steps; n++ {
					assert.GreaterOrEqual(t, from(ramp[n]), from(ramp[n-1]), "%v", ramp)
				}
			}
		}
	}
}
