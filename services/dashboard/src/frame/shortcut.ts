const NAME = 'paymesh.keys'

/** Whether single keys act (WCAG 2.1.4 requires a way to turn them off). */
export function keysAreOn(): boolean {
  return localStorage.getItem(NAME) !== 'off'
}

/** Stores in this browser whether single keys act. */
export function setKeysOn(on: boolean): void {
  if (on) localStorage.removeItem(NAME)
  else localStorage.setItem(NAME, 'off')
}
