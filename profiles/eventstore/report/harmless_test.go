package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTagsInThePageHaveNoEffect(t *testing.T) {
	assert.Equal(t, "&lt;script>alert(1)&lt;/script> a < b <br/>\n```yaml\nx: <y>\n```\n&lt;!-- &lt;img src=x>",
		harmless("<script>alert(1)</script> a < b <br/>\n```yaml\nx: <y>\n```\n<!-- <img src=x>"))
}
