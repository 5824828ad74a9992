import { useNetwork } from '@mantine/hooks'
import { IconSearch, IconWifiOff } from '@tabler/icons-react'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { showTime, showZone } from '#services/dashboard/src/format/time.ts'
import { useLive } from '#services/dashboard/src/live/use-live.ts'
import { PageSkeleton } from '#services/dashboard/src/parts/page-skeleton.tsx'
import { requiredProof, settle } from '#services/dashboard/src/parts/second-factor/step-up.ts'
import { ZONE } from '#services/dashboard/src/parts/time.tsx'
import { useLoaded } from '#services/dashboard/src/parts/use-loaded.ts'
import { useNow } from '#services/dashboard/src/parts/use-now.ts'
import { placePath } from '#services/dashboard/src/session/scope.ts'
import { MODES, type Mode, type WorkspaceStatus } from '#shared/domain/enumerations.ts'
import { serverTime } from '../first/server-time.ts'
import { Announcer } from './announcer.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Keyboard } from './keyboard.tsx'
import { MissingCodeNote } from './missing-code.tsx'
import { Navigation } from './navigation.tsx'
import { openSearch, searchCode } from './open-search.ts'
import type { NavigationTarget } from './target.ts'
import { UnreadNote } from './unread-note.tsx'

/** The frame around every page of a signed-in person. Test mode is clearly visible: band, stripes, border. */
export function Frame({
  target,
  status = 'active',
  children,
}: {
  readonly target: NavigationTarget | null
  /** Of the workspace of the page; what does not work in it is said above the page. */
  readonly status?: WorkspaceStatus
  readonly children?: ReactNode
}) {
  const test = target?.mode === 'test'
  useLive(target?.workspaceId, target?.mode)
  const search = searchCode.use()
  const needsCode = requiredProof.use() !== null
  const StepUpDialog = useLoaded(
    needsCode,
    async () => (await import('../parts/second-factor/step-up-dialog.tsx')).StepUpDialog,
    () => settle(false),
  )
  const StatusNote = useLoaded(status !== 'active', async () => (await import('./status-note.tsx')).StatusNote)
  return (
    <div className={test ? 'pm-body pm-test' : 'pm-body'}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      {test ? (
        <aside className="test-band" aria-label="Test mode">
          <b>TEST MODE</b>
          <span>Test data. No real money moves here.</span>
        </aside>
      ) : null}
      <div className="pm-app">
        <Navigation target={target} />
        <div className="pm-column">
          <TopBar target={target} />
          <OfflineNote />
          <MissingCodeNote />
          <UnreadNote />
          {StatusNote === null ? null : <StatusNote status={status} />}
          <main id="main" className="pm-main" tabIndex={-1}>
            <ErrorBoundary>
              <Suspense fallback={<PageSkeleton />}>{children ?? <Outlet />}</Suspense>
            </ErrorBoundary>
          </main>
        </div>
      </div>
      {target === null || search === null ? null : <search.Search target={target} />}
      <Keyboard target={target} />
      {StepUpDialog === null ? null : <StepUpDialog />}
      <Announcer />
    </div>
  )
}

/** Shows since when the page's data is outdated. It blocks nothing on the page. */
function OfflineNote() {
  const { online } = useNetwork()
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => setSince(online ? null : serverTime()), [online])
  if (since === null) return null
  return (
    <div className="pm-offline" role="status">
      <IconWifiOff size={16} aria-hidden />
      You’re offline. Showing data from {showTime(since, { zone: ZONE, now: since })}.
    </div>
  )
}

/** Search, Live or Test, and the time zone of all times. Switching the mode keeps the page and drops the item. */
function TopBar({ target }: { readonly target: NavigationTarget | null }) {
  const now = useNow(3_600_000)
  const { pathname } = useLocation()
  const switchable = target !== null && !pathname.startsWith('/system')
  return (
    <header className="pm-top">
      {target === null ? null : (
        <button type="button" className="pm-search" onClick={openSearch}>
          <IconSearch size={16} aria-hidden />
          <span>Search invoices, orders, customers, transactions, pages…</span>
          <kbd>Ctrl K</kbd>
        </button>
      )}
      {switchable ? (
        <ModeSwitch target={target} page={pathname.split('/')[3] ?? 'overview'} />
      ) : (
        <span className="pm-grow" />
      )}
      <span className="pm-zone">{showZone(ZONE, now)}</span>
    </header>
  )
}

const MODE_LABELS: Readonly<Record<Mode, string>> = { live: 'Live', test: 'Test' }

function ModeSwitch({ target, page }: { readonly target: NavigationTarget; readonly page: string }) {
  return (
    <nav className="pm-mode" aria-label="Mode">
      {MODES.map((mode) => (
        <Link
          key={mode}
          to={placePath(target.workspaceId, mode, page)}
          aria-current={mode === target.mode ? 'true' : undefined}
        >
          {MODE_LABELS[mode]}
        </Link>
      ))}
    </nav>
  )
}
