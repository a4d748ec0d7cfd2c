import { afterEach, describe, expect, test } from 'vitest'
import { BodyReader, type WholeBody, withBody, withWholeBody } from '../../src/api/body-reader.ts'
import { FrontMemory } from '../../src/api/front-memory.ts'
import { FRONT_MEMORY_BYTES_MAX } from '../../src/common/limits.ts'
import { StatusError } from '../../src/common/status.ts'

/** A body that is sent in pieces, and how far it was read. */
class Sending {
  pulls = 0
  isCancelled = false
  readonly stream: ReadableStream<Uint8Array>

  constructor(pieces: readonly Uint8Array[], type?: 'bytes') {
    const source = {
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (this.pulls === pieces.length) {
          controller.close()
          // A reader with a buffer of its own waits for it.
          ;(controller as unknown as ReadableByteStreamController).byobRequest?.respond(0)
        } else controller.enqueue(pieces[this.pulls++].slice())
      },
      cancel: () => {
        this.isCancelled = true
      },
    }
    this.stream =
      type === undefined
        ? new ReadableStream(source, { highWaterMark: 0 })
        : (new ReadableStream({ ...source, type } as unknown as UnderlyingByteSource, {
            highWaterMark: 0,
          }) as ReadableStream<Uint8Array>)
  }

  request(headers: Record<string, string> = {}): Request {
    const init = { method: 'POST', body: this.stream, headers, duplex: 'half' }
    return new Request('http://localhost/', init as RequestInit)
  }
}

const piece = (byte: number, bytes = 1000): Uint8Array => new Uint8Array(bytes).fill(byte)
const pieces = (count: number, bytes = 1000) =>
  Array.from({ length: count }, (_, i) => piece(i, bytes))

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const zipped = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(zipped).arrayBuffer())
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const cuts: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += size)
    cuts.push(bytes.slice(start, start + size))
  return cuts
}

const memory = new FrontMemory()

function readWholeBody(request: Request, bytesMax: number): Promise<WholeBody> {
  return withWholeBody(memory, request, bytesMax, (body) => body)
}

afterEach(() => {
  expect(memory.heldBytes).toBe(0)
})

describe('withWholeBody', () => {
  test('holds the body while it is worked with', async () => {
    const request = new Sending(pieces(5)).request({ 'Content-Length': '5000' })
    const held = await withWholeBody(memory, request, 5000, () => memory.heldBytes)

    expect(held).toBe(5001)
  })

  test('puts a request off when others hold too much, without reading of it', async () => {
    const holding = memory.open()
    holding.grow(FRONT_MEMORY_BYTES_MAX - 5000)
    const sending = new Sending(pieces(5))
    const failure = readWholeBody(sending.request({ 'Content-Length': '5000' }), 5000)

    await expect(failure).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(sending.pulls).toBe(0)
    holding.release()
  })

  test('puts a request off in its middle, having read it to its end', async () => {
    const holding = memory.open()
    holding.grow(FRONT_MEMORY_BYTES_MAX - 40_000)
    const sending = new Sending(pieces(60))

    await expect(readWholeBody(sending.request(), 60_000)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(sending.pulls).toBe(60)
    holding.release()
  })

  test('puts the pieces together, with an end that stops decoders', async () => {
    for (const type of [undefined, 'bytes'] as const) {
      const { bytes, end } = await readWholeBody(new Sending(pieces(5), type).request(), 5000)

      expect(end).toBe(5000)
      expect([bytes[0], bytes[999], bytes[1000], bytes[4999]]).toEqual([0, 0, 1, 4])
      expect(bytes[end]).toBe(0x0a)
    }
  })

  test('of a request without a body is empty', async () => {
    const { bytes, end } = await readWholeBody(
      new Request('http://localhost/', { method: 'POST' }),
      9,
    )

    expect(end).toBe(0)
    expect(bytes[0]).toBe(0x0a)
  })

  test('refuses one that is too large, and reads it to its end', async () => {
    const sending = new Sending(pieces(50))
    const failure = readWholeBody(sending.request(), 4999)

    await expect(failure).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit: 4999 },
    })
    expect(sending.pulls).toBe(50)
    expect(sending.isCancelled).toBe(false)
  })

  test('refuses one that is declared too large without reading any of it', async () => {
    const sending = new Sending(pieces(5))
    const failure = readWholeBody(sending.request({ 'Content-Length': '5000' }), 4999)

    await expect(failure).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(sending.pulls).toBe(0)
  })

  test('does not believe a declaration that is too small', async () => {
    const request = () => new Sending(pieces(5)).request({ 'Content-Length': '1' })
    const { bytes, end } = await readWholeBody(request(), 5000)

    expect(end).toBe(5000)
    expect([bytes[0], bytes[4999], bytes[5000]]).toEqual([0, 4, 0x0a])
    await expect(readWholeBody(request(), 4999)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    })
  })

  test.each([
    ['that does not say its length', {}],
    ['that is small', { 'Content-Length': '1000' }],
    ['that is large', { 'Content-Length': '1000000' }],
  ])('of a client that goes away fails, %s', async (_name, headers) => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('gone'))
      },
    })
    const init = { method: 'POST', body, headers, duplex: 'half' }
    const request = new Request('http://localhost/', init as RequestInit)
    const failure = readWholeBody(request, 2_000_000)

    await expect(failure).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'body broke off before its end',
    })
  })
})

describe('gzip', () => {
  const zipped = { 'Content-Encoding': 'gzip' }

  test('is unzipped, however it is cut', async () => {
    const whole = piece(7, 100_000)
    whole[99_999] = 8
    for (const size of [1, 10, 10_000]) {
      const sending = new Sending(cut(await gzip(whole), size))
      const { bytes, end } = await readWholeBody(sending.request(zipped), 100_000)

      expect(end).toBe(100_000)
      expect(bytes[99_999]).toBe(8)
    }
  })

  test('is unzipped member by member, however they are cut', async () => {
    const members = [
      await gzip(piece(1, 1000)),
      await gzip(piece(2, 0)),
      await gzip(piece(3, 1000)),
    ]
    const both = Uint8Array.from(members.flatMap((member) => [...member]))
    for (const size of [1, 10, members[0].length, 10_000]) {
      const { bytes, end } = await readWholeBody(new Sending(cut(both, size)).request(zipped), 2000)

      expect(end).toBe(2000)
      expect([bytes[0], bytes[999], bytes[1000], bytes[1999]]).toEqual([1, 1, 3, 3])
    }
  })

  test('that is followed by anything else is refused, and read to its end', async () => {
    const whole = await gzip(piece(1, 1000))
    for (const rest of [[1], [0, 0, 0, ...whole], [...whole.slice(0, 9)]]) {
      const sending = new Sending(cut(Uint8Array.from([...whole, ...rest]), 10))
      const failure = readWholeBody(sending.request(zipped), 5000)

      await expect(failure).rejects.toMatchObject({ message: 'body is not valid gzip' })
      expect(sending.pulls).toBe(Math.ceil((whole.length + rest.length) / 10))
    }
  })

  test('counts unzipped bytes, and is read to its end', async () => {
    const bomb = await gzip(new Uint8Array(20_000_000))
    const sending = new Sending(cut(bomb, 100))
    const failure = readWholeBody(sending.request(zipped), 1_000_000)

    await expect(failure).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(sending.pulls).toBe(Math.ceil(bomb.length / 100))
  })

  test.each(['at its start', 'in its middle', 'at its end'])(
    'that is broken %s is refused, and read to its end',
    async (where) => {
      const whole = await gzip(Uint8Array.from({ length: 50_000 }, (_, i) => (i * i) % 251))
      const broken = whole.slice()
      if (where === 'at its start') broken[0] = 0
      else if (where === 'in its middle') broken.fill(0xff, 500, 600)
      else broken.fill(0, whole.length - 8)
      const sending = new Sending(cut(broken, 50))
      const failure = readWholeBody(sending.request(zipped), 100_000)

      await expect(failure).rejects.toMatchObject({ message: 'body is not valid gzip' })
      expect(sending.pulls).toBe(Math.ceil(broken.length / 50))
    },
  )

  test('that is cut off is refused', async () => {
    const whole = await gzip(piece(1, 100_000))
    const sending = new Sending([whole.slice(0, whole.length - 5)])
    const failure = readWholeBody(sending.request(zipped), 100_000)

    await expect(failure).rejects.toMatchObject({ message: 'body is not valid gzip' })
  })
})

describe('withBody', () => {
  test('reads a body that was begun to its end before it fails', async () => {
    const sending = new Sending(pieces(20), 'bytes')
    const failure = withBody(sending.request(), async (body) => {
      await body.read()
      throw new StatusError('INVALID_ARGUMENT', 'no')
    })

    await expect(failure).rejects.toThrow('no')
    expect(sending.pulls).toBe(20)
  })

  test('leaves a body alone that was not begun', async () => {
    const sending = new Sending(pieces(20))
    const failure = withBody(sending.request(), async () => {
      throw new StatusError('INVALID_ARGUMENT', 'no')
    })

    await expect(failure).rejects.toThrow('no')
    expect(sending.pulls).toBe(0)
  })
})

describe('BodyReader', () => {
  test('gives null for ever behind the end', async () => {
    const body = new BodyReader(new Sending(pieces(1)).stream, false)

    expect(await body.read()).toHaveLength(1000)
    expect(await body.read()).toBeNull()
    expect(await body.read()).toBeNull()
    await body.drain()
  })
})
