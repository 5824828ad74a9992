/** Keys that were typed for the search before its field was there to take them. */
let typed = ''
let listener: ((text: string) => void) | null = null

function keep(event: KeyboardEvent): void {
  const { key, target } = event
  // A field that has the focus, the search's own or another, takes what is typed itself.
  if (target instanceof HTMLInputElement || key === 'Escape') return void dropEarlyKeys()
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (key === 'Backspace') typed = typed.slice(0, -1)
  else if (key === 'Enter') typed += '\n'
  else if ([...key].length === 1) typed += key
  else return
  // Otherwise a letter would be a shortcut of the page below.
  event.preventDefault()
  event.stopPropagation()
  listener?.(typed)
}

/** From now on keys are kept, until a field has the focus or `dropEarlyKeys` is called. */
export function keepEarlyKeys(): void {
  document.addEventListener('keydown', keep, true)
}

/** Keeps no more keys. What was shown stays. */
export function dropEarlyKeys(): void {
  typed = ''
  document.removeEventListener('keydown', keep, true)
}

/** Calls this listener, and no earlier one, with what was typed so far, Enter as a line break: now and with each further key. */
export function onEarlyKeys(show: (text: string) => void): void {
  listener = show
  if (typed !== '') show(typed)
}
