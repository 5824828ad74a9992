import { IconX } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { closeOnEscape } from './close-on-escape.ts'

/** What is open beside a list. `what` names it: "delivery". The focus is on its heading, once for each `id` and each `title` that has loaded. */
export function Aside(props: {
  readonly what: string
  readonly id: string
  /** Undefined until it has loaded. */
  readonly title: ReactNode | undefined
  /** Below the title. */
  readonly sub?: ReactNode
  /** After the title: a badge. */
  readonly beside?: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const { what, id, title, onClose } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const isLoaded = title !== undefined
  const name = `${what.charAt(0).toUpperCase()}${what.slice(1)}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one has another heading
  useEffect(() => heading.current?.focus({ preventScroll: true }), [id, isLoaded])
  return (
    <aside className="pm-card" aria-label={name} onKeyDown={closeOnEscape(onClose)}>
      <header className="pm-aside-head">
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {title ?? name}
          </h2>
          {props.sub}
        </div>
        {props.beside}
        <button type="button" className="pm-icon-button" onClick={onClose} aria-label={`Close the ${what}`}>
          <IconX size={16} aria-hidden />
        </button>
      </header>
      <div className="pm-aside-body">{props.children}</div>
    </aside>
  )
}
