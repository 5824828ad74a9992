import { type ReactNode, use, useEffect, useLayoutEffect, useRef } from 'react'
import { Link, useLocation } from 'react-router'
import { PlaceContext } from '../session/scope.ts'

/** A tab of a page: a link, so that it has a URL. */
export interface PageTab {
  readonly label: string
  readonly to: string
  readonly current: boolean
  readonly count?: string | undefined
}

export interface PageProps {
  readonly title: string
  /** A different title for the browser tab, such as the invoice's number and state. */
  readonly documentTitle?: string
  /** The page that this one belongs to, above its title. */
  readonly parent?: { readonly label: string; readonly to: string }
  /** Next to the title: badges, a sentence. */
  readonly beside?: ReactNode
  /** Buttons at the right. */
  readonly actions?: ReactNode
  readonly tabs?: readonly PageTab[]
  readonly children: ReactNode
}

let isFirst = true

/** Every page: its `h1`, the browser's title "Page · Workspace · Paymesh", actions and tabs. TEST follows the title in test mode. */
export function Page({ title, documentTitle, parent, beside, actions, tabs, children }: PageProps) {
  const place = use(PlaceContext)
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname } = useLocation()
  useEffect(() => {
    const words = [documentTitle ?? title, place?.workspaceName, 'Paymesh'].filter((word) => word !== undefined)
    document.title = `${place?.mode === 'test' ? '[TEST] ' : ''}${words.join(' · ')}`
  }, [title, documentTitle, place])
  // Before the effects of its parts: a list to which a person returns then scrolls to their row. The first page of a document is at its top.
  useLayoutEffect(() => {
    if (!isFirst) window.scrollTo(0, 0)
    isFirst = false
  }, [])
  // With the next frame, which computes the layout anyway: a focus computes it at once, and once more for what is rendered next.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page starts at its heading, once
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [pathname])
  return (
    <div className="pm-page">
      {parent === undefined ? null : <Trail parent={parent} title={title} />}
      <header className="pm-page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {place?.mode === 'test' ? <span className="pm-test-chip">TEST</span> : null}
        {beside}
        {actions === undefined ? null : <div className="pm-page-actions">{actions}</div>}
      </header>
      {tabs === undefined ? null : <Tabs label={title} tabs={tabs} />}
      {children}
    </div>
  )
}

function Trail({ parent, title }: { readonly parent: NonNullable<PageProps['parent']>; readonly title: string }) {
  return (
    <nav aria-label="Breadcrumb" className="pm-trail">
      <ol>
        <li>
          <Link to={parent.to}>{parent.label}</Link>
        </li>
        <li aria-current="page">{title}</li>
      </ol>
    </nav>
  )
}

function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly PageTab[] }) {
  return (
    <nav className="pm-tabs pm-num" aria-label={`${label}: parts`}>
      {tabs.map(({ label: word, to, current, count }) => (
        <Link key={to} to={to} aria-current={current ? 'page' : undefined}>
          {word}
          {count === undefined ? null : <span className="pm-tab-count">{count}</span>}
        </Link>
      ))}
    </nav>
  )
}
