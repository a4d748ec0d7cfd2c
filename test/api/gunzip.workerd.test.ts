import { describe, expect, test } from 'vitest'
import { Gunzip } from '../../src/api/gunzip.ts'

async function gzip(text: string): Promise<Uint8Array> {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(zipped).arrayBuffer())
}

function joined(...parts: (Uint8Array | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

/** Unzips bytes that come some at a time, and lets go. Returns: the text, and what was read. */
async function unzip(bytes: Uint8Array, size: number): Promise<{ text: string; taken: number }> {
  let taken = 0
  const source = {
    read: async () => {
      const chunk = bytes.slice(taken, taken + size)
      taken += chunk.length
      return chunk.length === 0 ? null : chunk
    },
  }
  const gunzip = new Gunzip(source)
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let chunk = await gunzip.read(); chunk !== null; chunk = await gunzip.read()) {
      text += decoder.decode(chunk, { stream: true })
    }
  } finally {
    await gunzip.stop()
  }
  return { text, taken }
}

const SIZES = [1, 7, 1_000_000]

describe('Gunzip on the platform', () => {
  test.each(SIZES)('unzips members one behind the other, %i bytes at a time', async (size) => {
    const bytes = joined(await gzip('one\n'), await gzip(''), await gzip('two\n'.repeat(50_000)))
    const { text } = await unzip(bytes, size)

    expect(text).toBe(`one\n${'two\n'.repeat(50_000)}`)
  })

  test.each(SIZES)('refuses what is no gzip to its end, %i bytes at a time', async (size) => {
    const member = await gzip('one\n'.repeat(1000))
    const bad = [
      new Uint8Array(0),
      member.slice(0, -1),
      joined(member, member.slice(0, 5)),
      joined(member, [0x78]),
      joined(member, [0, 0, 0]),
      joined(member, [0, 0], member),
      joined(member, member.fill(0xff, 20, 25)),
    ]
    for (const bytes of bad) {
      await expect(unzip(bytes, size)).rejects.toThrow('body is not valid gzip')
    }
  })

  test('makes little more than what is asked for', async () => {
    const member = await gzip('x'.repeat(20_000_000))
    const bomb = joined(...Array(20).fill(member))
    let reads = 0
    const source = {
      read: async () => {
        const chunk = bomb.slice(reads * 100, reads * 100 + 100)
        reads++
        return chunk.length === 0 ? null : chunk
      },
    }
    const gunzip = new Gunzip(source)
    const first = await gunzip.read()
    await new Promise((resolve) => setTimeout(resolve, 50))

    expect(first?.length).toBeLessThanOrEqual(64 * 1024)
    expect(reads * 100).toBeLessThan(128 * 1024)
    expect(bomb.length).toBeGreaterThan(256 * 1024)
    await gunzip.stop()
  })

  test('passes on what its source throws', async () => {
    const member = await gzip('one\n')
    let reads = 0
    const source = {
      read: async () => {
        if (reads++ === 0) return member.slice(0, 10)
        throw new Error('gone')
      },
    }
    const gunzip = new Gunzip(source)

    await expect(gunzip.read()).rejects.toThrow('gone')
    await gunzip.stop()
  })
})
