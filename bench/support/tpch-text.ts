/**
 * The pseudo-text of TPC-H (specification, clause 4.2.2.10 and 4.2.2.14): sentences of a small
 * grammar, strung together into a pool of which comments are cut at random places.
 */

import type { Prng } from '../../src/util/prng.ts'

const NOUNS = `
  foxes ideas theodolites pinto_beans instructions dependencies excuses platelets asymptotes
  courts dolphins multipliers sauternes warthogs frets dinos attainments somas Tiresias
  patterns forges braids hockey_players frays warhorses dugouts notornis epitaphs pearls
  tithes waters orbits gifts sheaves depths sentiments decoys realms pains grouches escapades
`
const VERBS = `
  sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose
  sublate solve thrash promise engage hinder print x-ray breach eat grow impress mold poach
  serve run dazzle snooze doze unwind kindle play hang believe doubt
`
const ADJECTIVES = `
  furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave
  stealthy permanent enticing idle busy regular final ironic even bold silent
`
const ADVERBS = `
  sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly
  ruthlessly thinly closely doggedly daringly bravely stealthily permanently enticingly idly
  busily regularly finally ironically evenly boldly silently
`
const PREPOSITIONS = `
  about above according_to across after against along alongside_of among around at atop before
  behind beneath beside besides between beyond by despite during except for from in_place_of
  inside instead_of into near of on outside over past since through throughout to toward under
  until up upon without with within
`
const AUXILIARIES = `
  do may might shall will would can could should ought_to must will_have_to shall_have_to
  could_have_to should_have_to must_have_to need_to try_to
`
const TERMINATORS = '. ; : ? ! --'

const words = (text: string): readonly string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll('_', ' '))

const NOUN = words(NOUNS)
const VERB = words(VERBS)
const ADJECTIVE = words(ADJECTIVES)
const ADVERB = words(ADVERBS)
const PREPOSITION = words(PREPOSITIONS)
const AUXILIARY = words(AUXILIARIES)
const TERMINATOR = words(TERMINATORS)

/** A pool of about `bytes` characters, all ASCII. */
export function textPool(prng: Prng, bytes: number): string {
  const sentences: string[] = []
  for (let length = 0; length < bytes; ) {
    const next = sentence(prng)
    sentences.push(next)
    length += next.length + 1
  }
  return sentences.join(' ')
}

/** Between `least` and `most` characters of the pool. */
export function cutText(prng: Prng, pool: string, least: number, most: number): string {
  const length = least + prng.below(most - least + 1)
  const start = prng.below(pool.length - length)
  return pool.slice(start, start + length)
}

function sentence(prng: Prng): string {
  const [noun, verb] = [nounPhrase(prng), verbPhrase(prng)]
  const end = one(prng, TERMINATOR)
  switch (prng.below(5)) {
    case 0:
      return `${noun} ${verb}${end}`
    case 1:
      return `${noun} ${verb} ${prepositionalPhrase(prng)}${end}`
    case 2:
      return `${noun} ${verb} ${nounPhrase(prng)}${end}`
    case 3:
      return `${noun} ${prepositionalPhrase(prng)} ${verb} ${nounPhrase(prng)}${end}`
    default:
      return `${noun} ${prepositionalPhrase(prng)} ${verb} ${prepositionalPhrase(prng)}${end}`
  }
}

function nounPhrase(prng: Prng): string {
  const noun = one(prng, NOUN)
  switch (prng.below(4)) {
    case 0:
      return noun
    case 1:
      return `${one(prng, ADJECTIVE)} ${noun}`
    case 2:
      return `${one(prng, ADJECTIVE)}, ${one(prng, ADJECTIVE)} ${noun}`
    default:
      return `${one(prng, ADVERB)} ${one(prng, ADJECTIVE)} ${noun}`
  }
}

function verbPhrase(prng: Prng): string {
  const verb = one(prng, VERB)
  switch (prng.below(4)) {
    case 0:
      return verb
    case 1:
      return `${one(prng, AUXILIARY)} ${verb}`
    case 2:
      return `${verb} ${one(prng, ADVERB)}`
    default:
      return `${one(prng, AUXILIARY)} ${verb} ${one(prng, ADVERB)}`
  }
}

function prepositionalPhrase(prng: Prng): string {
  return `${one(prng, PREPOSITION)} the ${nounPhrase(prng)}`
}

function one(prng: Prng, choices: readonly string[]): string {
  return choices[prng.below(choices.length)]
}
