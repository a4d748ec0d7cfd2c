/**
 * Room for the values of one page, shared by all encodings: encoding and decoding are synchronous
 * and one at a time. Hot.
 *
 * What an encoding keeps in one of these is gone when another one that uses it is called: integers
 * and distances share the first two, which hold words of lanes; codes and places are in the third.
 */

import { CFILE_PAGE_ROW_COUNT_MAX } from '../../common/limits.ts'

/** Low words, lengths, or numbers. */
export const scratchLow = new Int32Array(CFILE_PAGE_ROW_COUNT_MAX)
/** High words, or a second length of each value. */
export const scratchHigh = new Int32Array(CFILE_PAGE_ROW_COUNT_MAX)
/** Codes of a dictionary, or places of exceptions. */
export const scratchCodes = new Int32Array(CFILE_PAGE_ROW_COUNT_MAX)
/** Integers on the way to distances. */
export const scratchIntegers = new Float64Array(CFILE_PAGE_ROW_COUNT_MAX)
/** Floating point numbers of double width. */
export const scratchDoubles = new Float64Array(CFILE_PAGE_ROW_COUNT_MAX)
