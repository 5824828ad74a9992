import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'

const AnnounceContext = createContext<(text: string) => void>(() => undefined)

/** Announces a change to screen reader users. */
export const useAnnounce = (): ((text: string) => void) => useContext(AnnounceContext)

/** The page's only live region: present and empty from the start, filled only when something changed. */
export function Announcer({ children }: { readonly children: ComponentChildren }) {
  const [text, setText] = useState('')
  const announce = useCallback((next: string) => {
    // A repeated text is announced again only when the region was empty in between.
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
