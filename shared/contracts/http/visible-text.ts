import { text } from './text.ts'

/** Stored text with something else than white space. */
const VISIBLE_TEXT = '^\\s*[^\\s\\x00][^\\x00]*$'

/** A text displayed on a page: like `text`, and not only white space. */
export function visibleText(max: number) {
  return text(max)
    .refine((value) => value === '' || value.trim() !== '', 'must not be blank')
    .meta({ pattern: VISIBLE_TEXT })
}
