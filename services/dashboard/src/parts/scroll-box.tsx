import { type ReactNode, useEffect, useRef, useState } from 'react'

/** Contains something wide, such as a table. While it is wider than its box it can be scrolled, also by keyboard: it is focusable then. */
export function ScrollBox({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const box = useRef<HTMLElement>(null)
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = () => setWide(element.scrollWidth > element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return (
    <section
      ref={box}
      className="pm-table-box"
      {...(isWide ? { tabIndex: 0, 'aria-label': `${label}, scrolls sideways` } : {})}
    >
      {children}
    </section>
  )
}
