package sqlstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestServersThatForgetWhatIsPrepared(t *testing.T) {
	for version, want := range map[string]bool{
		"10.4.34-MariaDB-log MariaDB Server": true, "5.5.68-MariaDB MariaDB Server": true,
		"10.5.29-MariaDB MariaDB Server": false, "11.8.2-MariaDB-1 mariadb.org binary": false, "8.0.43 MySQL Community Server - GPL": false,
	} {
		assert.Equal(t, want, forgetsPrepared(version), version)
	}
}
