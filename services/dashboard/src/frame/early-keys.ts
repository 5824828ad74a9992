/** Keys that were typed for the search before its field was there to take them. */
let typed = ''
let listener: ((text: string) => void) | null = null
let isKeeping = false

/** The search's own field, as soon as it has the focus, takes what is typed itself. */
const isSearchField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && target.getAttribute('aria-label') === 'Search everywhere'

function keep(event: KeyboardEvent): void {
  if (isSearchField(event.target) || event.key === 'Escape') dropEarlyKeys()
  else if (!event.ctrlKey && !event.metaKey && !event.altKey) add(event)
}

function add(event: KeyboardEvent): void {
  if (event.key === 'Backspace') typed = typed.slice(0, -1)
  else if (event.key === 'Enter') typed += '\n'
  else if ([...event.key].length === 1) typed += event.key
  else return
  // Otherwise a letter would be a shortcut of the page below.
  event.preventDefault()
  event.stopPropagation()
  listener?.(typed)
}

/** From now on keys are kept, until the search's field has the focus or `dropEarlyKeys` is called. */
export function keepEarlyKeys(): void {
  if (isKeeping) return
  isKeeping = true
  typed = ''
  document.addEventListener('keydown', keep, true)
}

/** Keeps no more keys. What was shown stays. */
export function dropEarlyKeys(): void {
  isKeeping = false
  document.removeEventListener('keydown', keep, true)
}

/** Calls the listener with what was typed so far, Enter as a line break, now and with each further key. Returns a function that unsubscribes. */
export function onEarlyKeys(show: (text: string) => void): () => void {
  listener = show
  if (isKeeping && typed !== '') show(typed)
  return () => {
    listener = null
  }
}
