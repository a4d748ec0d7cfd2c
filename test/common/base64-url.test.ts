import { describe, expect, test } from 'vitest'
import { decodeBase64Url, encodeBase64Url } from '../../src/common/base64-url.ts'

describe('base64url', () => {
  test('of any bytes comes back as they were, and needs no escaping in a URL', () => {
    for (let length = 0; length < 70; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 97 + length * 31) & 0xff)
      const text = encodeBase64Url(bytes)

      expect(encodeURIComponent(text)).toBe(text)
      expect(decodeBase64Url(text)).toEqual(bytes)
    }
    expect(encodeBase64Url(Uint8Array.of(0xfb, 0xff))).toBe('-_8')
  })

  test.each(['A', '-_9', '-_8=', '+/8', 'AA AA', 'é', 'AAAAA'])('of no bytes is %s', (text) => {
    expect(decodeBase64Url(text)).toBeNull()
  })
})
