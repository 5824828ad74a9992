import type { KeyboardEvent } from 'react'

/**
 * Closes an aside when Escape is pressed in it. A dialog that was opened from it is its child in React, though not in the document: the
 * Escape that closes the dialog leaves the aside open, where the focus returns to.
 */
export function closeOnEscape(close: () => void) {
  return ({ key, target, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    if (key === 'Escape' && target instanceof Node && currentTarget.contains(target)) close()
  }
}
