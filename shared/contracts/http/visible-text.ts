import { text } from './text.ts'

/** A text displayed on a page: like `text`, and not only white space. */
export function visibleText(max: number) {
  return text(max).refine((value) => value === '' || value.trim() !== '', 'must not be blank')
}
