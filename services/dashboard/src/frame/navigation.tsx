import { IconDots } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { Modal } from '#services/dashboard/src/parts/dialog/modal.tsx'
import { useNarrow } from '#services/dashboard/src/parts/use-narrow.ts'
import { mayDo, ROLE_LABELS } from '#services/dashboard/src/session/roles.ts'
import { placePath } from '#services/dashboard/src/session/scope.ts'
import { useSession } from '#services/dashboard/src/session/session.ts'
import { ENTRY_GROUPS, type Entry, PHONE_PAGES, SYSTEM_ENTRY } from './entries.ts'
import { Guilloche } from './logo.tsx'
import type { NavigationTarget } from './target.ts'
import { useOpenExceptions } from './use-open-exceptions.ts'
import { UserMenu } from './user-menu.tsx'
import { WorkspaceMenu } from './workspace-menu.tsx'

/** The navigation: entries that this person may not open are hidden. */
export function Navigation({ target }: { readonly target: NavigationTarget | null }) {
  const { isOperator } = useSession()
  const { pathname } = useLocation()
  const system = pathname.startsWith('/system')
  const isNarrow = useNarrow()
  return (
    <nav className="pm-nav pm-deep" aria-label="Main">
      <Guilloche />
      <WorkspaceMenu target={target} />
      {target === null ? null : <Groups target={target} pathname={pathname} isShort={isNarrow} />}
      {isNarrow && target !== null ? (
        <MorePages>
          <Groups target={target} pathname={pathname} isShort={false} />
          {isOperator ? <SystemLink isCurrent={system} /> : null}
        </MorePages>
      ) : isOperator ? (
        <SystemLink isCurrent={system} />
      ) : null}
      <UserMenu role={target === null ? 'Operator' : ROLE_LABELS[target.role]} />
    </nav>
  )
}

function SystemLink({ isCurrent }: { readonly isCurrent: boolean }) {
  return (
    <>
      <h2>Instance</h2>
      <Link
        className="pm-nav-link"
        to={SYSTEM_ENTRY.path}
        aria-current={isCurrent ? 'page' : undefined}
        title={SYSTEM_ENTRY.label}
      >
        <SYSTEM_ENTRY.icon size={17} aria-hidden />
        <span>{SYSTEM_ENTRY.label}</span>
      </Link>
    </>
  )
}

/** `isShort`: only the daily pages, for the bar of a phone. */
function Groups(props: { readonly target: NavigationTarget; readonly pathname: string; readonly isShort: boolean }) {
  const { target, pathname, isShort } = props
  const open = useOpenExceptions(target)
  return ENTRY_GROUPS.map(({ heading, entries }) => {
    const listed = isShort ? entries.filter(({ page }) => PHONE_PAGES.includes(page)) : entries
    const allowed = listed.filter(({ needs }) => mayDo(target.role, needs))
    if (allowed.length === 0) return null
    return (
      <div key={heading ?? 'daily'} className="pm-nav-group">
        {heading === null ? null : <h2>{heading}</h2>}
        {allowed.map((entry) => (
          <EntryLink
            key={entry.page}
            entry={entry}
            target={target}
            pathname={pathname}
            count={entry.page === 'exceptions' ? open : 0}
          />
        ))}
      </div>
    )
  })
}

function EntryLink(props: {
  readonly entry: Entry
  readonly target: NavigationTarget
  readonly pathname: string
  readonly count: number
}) {
  const { label, page, icon: Icon } = props.entry
  const { workspaceId, mode } = props.target
  const current = props.pathname.split('/')[3] === page.split('/')[0] && !props.pathname.startsWith('/system')
  return (
    <Link
      className="pm-nav-link"
      to={placePath(workspaceId, mode, page)}
      aria-current={current ? 'page' : undefined}
      title={label}
    >
      <Icon size={17} aria-hidden />
      <span>{label}</span>
      {props.count === 0 ? null : (
        <span className="pm-nav-count">
          {props.count > 99 ? '99+' : props.count}
          <span className="unseen"> open</span>
        </span>
      )}
    </Link>
  )
}

const SHEET = { inner: 'pm-sheet', content: 'pm-sheet-content' }

/** The last button of a phone's bar: all pages, in a sheet that closes when one of them is opened. */
function MorePages({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="pm-nav-link" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <IconDots size={17} aria-hidden />
        <span>More</span>
      </button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="All pages" classNames={SHEET}>
        {/* The links in it work with keys; a click on any of them closes the sheet. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it listens for clicks of the links in it */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link that is opened by a key is clicked, too */}
        <div
          className="pm-all-pages"
          onClick={({ target }) => target instanceof Element && target.closest('a') !== null && setOpen(false)}
        >
          {children}
        </div>
      </Modal>
    </>
  )
}
