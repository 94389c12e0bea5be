// Package webhook verifies webhooks of Signalbox. Standard library only.
package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how old an attempt may be.
const Tolerance = 5 * time.Minute

var timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)
var digestForm = regexp.MustCompile(`^t=([0-9]+),(.+)$`)

// Verify tells whether body (the raw bytes) comes from the sender, unchanged and not too old. header is a request's
// http.Header, secrets are those that are live, as revealed, dataFormat is "object" or "string", as set on the endpoint.
func Verify(body []byte, header map[string][]string, secrets []string, dataFormat string, now time.Time) bool {
	names := textproto.MIMEHeader(header)
	return verifyStandard(body, names, secrets, now) && verifyDigest(body, names, secrets, dataFormat)
}

func verifyStandard(body []byte, header textproto.MIMEHeader, secrets []string, now time.Time) bool {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if id == "" || !timestampForm.MatchString(timestamp) {
		return false
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return false
	}
	var expected []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err == nil {
			expected = append(expected, "v1,"+base64.StdEncoding.EncodeToString(sign(key, id+"."+timestamp+".", body)))
		}
	}
	return anyEqual(strings.Split(header.Get("Webhook-Signature"), " "), expected)
}

func verifyDigest(body []byte, header textproto.MIMEHeader, secrets []string, dataFormat string) bool {
	match := digestForm.FindStringSubmatch(header.Get("Signature-Digest"))
	signed := signedBytes(body, dataFormat)
	if match == nil || signed == nil {
		return false
	}
	var expected []string
	for _, secret := range secrets {
		expected = append(expected, "v1="+hex.EncodeToString(sign([]byte(secret), match[1]+".", signed)))
	}
	return anyEqual(strings.Split(match[2], ","), expected)
}

func signedBytes(body []byte, dataFormat string) []byte {
	if dataFormat == "string" {
		var envelope struct{ Data *string }
		if json.Unmarshal(body, &envelope) != nil || envelope.Data == nil {
			return nil
		}
		return []byte(*envelope.Data)
	}
	marker := []byte(`,"data":`)
	start, end := bytes.Index(body, marker), bytes.LastIndexByte(body, '}')
	if start < 0 || end < start+len(marker) {
		return nil
	}
	return body[start+len(marker) : end]
}

func sign(key []byte, prefix string, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write(message)
	return mac.Sum(nil)
}

func anyEqual(offered, expected []string) bool {
	for _, one := range offered {
		for _, other := range expected {
			if hmac.Equal([]byte(one), []byte(other)) {
				return true
			}
		}
	}
	return false
}
