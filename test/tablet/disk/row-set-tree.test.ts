import { describe, expect, test } from 'vitest'
import { RowSetTree } from '../../../src/tablet/disk/row-set-tree.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { EMPTY_BYTES, utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'

interface NamedRowSet {
  readonly name: string
  readonly lowerKey: Uint8Array
  readonly upperKey: Uint8Array
}

/** A rowset drawn as `name lower upper`; an upper bound of `∞` is none. */
function aRowSet(text: string): NamedRowSet {
  const [name, lower, upper] = text.split(' ')
  const upperKey = upper === '∞' ? EMPTY_BYTES : utf8Encode(upper)
  return { name, lowerKey: utf8Encode(lower.replace('-', '')), upperKey }
}

function aTree(...texts: readonly string[]): RowSetTree<NamedRowSet> {
  return new RowSetTree(texts.map(aRowSet))
}

function arenaOf(texts: readonly string[]): { keys: KeyArena; order: Uint32Array } {
  const keys = new KeyArena()
  for (const text of texts) {
    const bytes = utf8Encode(text)
    keys.append(bytes, 0, bytes.length)
    keys.endKey()
  }
  const order = texts.map((_, i) => i).sort((a, b) => (texts[a] < texts[b] ? -1 : 1))
  return { keys, order: Uint32Array.from(order) }
}

/** Who is asked for what, as `name: keys`. */
function asked(tree: RowSetTree<NamedRowSet>, ...texts: readonly string[]): string[] {
  const { keys, order } = arenaOf(texts)
  const found: string[] = []
  tree.candidates(keys, order, texts.length, ({ name }, start, end) => {
    const share = [...order.subarray(start, end)].map((key) => utf8Decode(keys.key(key)))
    found.push(`${name}: ${share.join(' ')}`)
  })
  return found
}

/** The same of keys that are not sorted before; those of a share are sorted here. */
function sharedOut(tree: RowSetTree<NamedRowSet>, ...texts: readonly string[]): string[] {
  const { keys } = arenaOf(texts)
  const order = Uint32Array.from(texts, (_, i) => i)
  const found: string[] = []
  tree.shareOut(keys, order, texts.length, ({ name }, start, end) => {
    const share = [...order.subarray(start, end)].map((key) => utf8Decode(keys.key(key)))
    found.push(`${name}: ${share.sort().join(' ')}`)
  })
  return found
}

const names = (rowSets: readonly NamedRowSet[]) => rowSets.map(({ name }) => name).join('')
const key = (text: string) => utf8Encode(text)

describe('RowSetTree', () => {
  //   a      b      c      d      e      f
  //   1 ├────────────┤     2 ├───────────┤
  //          3 ├─────────────┤
  const three = aTree('1 a c', '2 d f', '3 b e')

  test('asks each rowset once, for the keys within its bounds', () => {
    expect(asked(three, 'd', 'a', 'c', 'b')).toEqual(['1: a b', '3: b c d', '2: d'])
    expect(asked(three, 'f', '', 'x')).toEqual([])
    expect(asked(three, 'e', 'e')).toEqual(['2: e e'])
    expect(asked(aTree(), 'a')).toEqual([])
    expect(asked(three)).toEqual([])
  })

  test('shares keys out that are in any order', () => {
    expect(sharedOut(three, 'd', 'a', 'c', 'b')).toEqual(['1: a b', '3: b c d', '2: d'])
    expect(sharedOut(three, 'f', '', 'x', 'a')).toEqual(['1: a'])
    expect(sharedOut(three, 'e', 'e')).toEqual(['2: e e'])
    expect(sharedOut(aTree('1 - ∞', '2 b c'), 'z', 'b', 'a')).toEqual(['1: a b z', '2: b'])
    expect(
      sharedOut(aTree('1 prefix_a prefix_f', '2 prefix_c prefix_ca'), 'prefix_c', 'prefix', 'q'),
    ).toEqual(['1: prefix_c', '2: prefix_c'])
    expect(sharedOut(aTree(), 'a')).toEqual([])
    expect(sharedOut(three)).toEqual([])
  })

  test('takes an empty bound as none', () => {
    const open = aTree('1 - ∞', '2 b c')

    expect(asked(open, 'a', 'b', 'z')).toEqual(['1: a b z', '2: b'])
  })

  test('finds the rowsets that meet a range', () => {
    const found = (lower: string, upper: string) => names(three.inRange(key(lower), key(upper)))

    expect(found('', '')).toBe('132')
    expect(found('', 'b')).toBe('1')
    expect(found('c', 'd')).toBe('3')
    expect(found('e', '')).toBe('2')
    expect(found('f', '')).toBe('')
    expect(found('', 'a')).toBe('')
  })

  test('measures its height at a key', () => {
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((text) => three.heightAt(key(text)))).toEqual([
      1, 2, 1, 2, 1, 0,
    ])
  })

  test('measures its average height by where the bytes are', () => {
    const height = (bytes: number, ...texts: string[]) =>
      aTree(...texts).averageHeight(({ name }) => (name === '1' ? bytes : 100))

    expect(height(100)).toBe(0)
    expect(height(100, '1 a c')).toBe(1)
    expect(height(100, '1 a c', '2 c e')).toBe(1)
    expect(height(100, '1 a c', '2 a c', '3 a c')).toBe(3)
    // Half of each lies where both do.
    expect(height(100, '1 a c', '2 b d')).toBeCloseTo(1.5)
    // All of 2 lies on 1, but little of 1 is there.
    expect(height(100, '1 a k', '2 a b')).toBeCloseTo((110 * 2 + 90) / 200)
    expect(height(900, '1 a k', '2 a b')).toBeCloseTo((190 * 2 + 810) / 1000)
    expect(height(100, '1 - ∞')).toBe(1)
  })

  test('does not measure rowsets without bytes', () => {
    expect(aTree('1 a c').averageHeight(() => 0)).toBe(0)
  })

  test('refuses a rowset whose bounds have no keys between them', () => {
    expect(() => aTree('1 b b')).toThrow('a rowset has keys')
  })

  test.each(Array.from({ length: 40 }, (_, i) => i))(
    'answers as a walk over all does (seed %i)',
    (seed) => {
      const prng = new Prng(seed)
      const aKey = () =>
        String.fromCharCode(...Array.from({ length: prng.below(4) }, () => 97 + prng.below(4)))
      const rowSets: NamedRowSet[] = []
      for (let i = prng.below(seed < 20 ? 8 : 60); i >= 0; i--) {
        const [lower, upper] = [aKey(), aKey()].sort()
        if (lower === upper && upper !== '') continue
        rowSets.push({ name: `${i} `, lowerKey: key(lower), upperKey: key(upper) })
      }
      const tree = new RowSetTree(rowSets)
      const has = ({ lowerKey, upperKey }: NamedRowSet, text: string) =>
        utf8Decode(lowerKey) <= text && (upperKey.length === 0 || text < utf8Decode(upperKey))
      const probes = Array.from({ length: prng.below(20) }, aKey)
      const sorted = [...probes].sort()

      const expected = rowSets
        .map((it) => `${it.name}: ${sorted.filter((text) => has(it, text)).join(' ')}`)
        .filter((_, i) => sorted.some((text) => has(rowSets[i], text)))
      expect(asked(tree, ...probes).sort()).toEqual(expected.sort())
      expect(sharedOut(tree, ...probes).sort()).toEqual(expected.sort())
      for (const text of probes) {
        expect(tree.heightAt(key(text))).toBe(rowSets.filter((it) => has(it, text)).length)
      }
      const [lower, upper] = [aKey(), aKey()]
      const meets = ({ lowerKey, upperKey }: NamedRowSet) =>
        (upper === '' || utf8Decode(lowerKey) < upper) &&
        (upperKey.length === 0 || lower < utf8Decode(upperKey))
      expect(
        names(tree.inRange(key(lower), key(upper)))
          .split(' ')
          .sort(),
      ).toEqual(names(rowSets.filter(meets)).split(' ').sort())
      const height = tree.averageHeight(() => 1)
      expect(height).toBeGreaterThanOrEqual(rowSets.length === 0 ? 0 : 1 - 1e-9)
      expect(height).toBeLessThanOrEqual(rowSets.length + 1e-9)
    },
  )
})
