import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'

const AnnounceContext = createContext<(text: string) => void>(() => undefined)

/** Says something to those who do not see the page. */
export const useAnnounce = (): ((text: string) => void) => useContext(AnnounceContext)

/** The page's one live region: there and empty from the start, filled only when something changed. */
export function Announcer({ children }: { readonly children: ComponentChildren }) {
  const [text, setText] = useState('')
  const announce = useCallback((next: string) => {
    // The same words twice are heard twice only when the region was empty in between.
    setText('')
    setTimeout(() => setText(next), 50)
  }, [])
  return (
    <AnnounceContext.Provider value={announce}>
      {children}
      <div class="unseen" role="status" aria-live="polite" aria-atomic="true">
        {text}
      </div>
    </AnnounceContext.Provider>
  )
}
