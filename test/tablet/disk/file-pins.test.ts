import { describe, expect, test } from 'vitest'
import { FilePins } from '../../../src/tablet/disk/file-pins.ts'

describe('FilePins', () => {
  test('holds a file until everyone who pinned it let go', () => {
    const pins = new FilePins()

    pins.pin([1, 2])
    pins.pin([2, 3, 3])
    pins.unpin([2, 3, 3])

    expect([1, 2, 3].map((file) => pins.isPinned(file))).toEqual([true, true, false])
    pins.unpin([1, 2])
    expect(pins.fileCount).toBe(0)
  })

  test('refuses to let go of what nobody holds', () => {
    const pins = new FilePins()
    pins.pin([1])

    expect(() => pins.unpin([2])).toThrow('an unpinned file was pinned')
  })
})
