import { InvalidArgumentError } from 'commander'

/** Reads a whole number on the command line that has this form and is in the range; throws `InvalidArgumentError` with `words` for anything else. */
export const wholeNumber =
  (form: RegExp, words: string, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) =>
  (text: string): number => {
    const value = form.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(words)
  }
