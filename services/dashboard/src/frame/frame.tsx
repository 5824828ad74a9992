import { type ReactNode, Suspense, useSyncExternalStore } from 'react'
import { Outlet } from 'react-router'
import type { WorkspaceStatus } from '#shared/domain/workspace-status.ts'
import { useLive } from '../live/use-live.ts'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { askedNow, settle, subscribe } from '../parts/second-factor/step-up.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { Announcer } from './announcer.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Keyboard } from './keyboard.tsx'
import { MissingCodeNote } from './missing-code.tsx'
import { Navigation } from './navigation.tsx'
import { OfflineNote } from './offline-note.tsx'
import { loadedSearch, whenSearchLoads } from './open-search.ts'
import type { NavigationTarget } from './target.ts'
import { TopBar } from './top-bar.tsx'

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
  const Search = useSyncExternalStore(whenSearchLoads, loadedSearch)
  const asksForCode = useSyncExternalStore(subscribe, askedNow) !== null
  const StepUpDialog = useLoaded(
    asksForCode,
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
        <aside className="pm-test-band" aria-label="Test mode">
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
          {StatusNote === null ? null : <StatusNote status={status} />}
          <main id="main" className="pm-main" tabIndex={-1}>
            <ErrorBoundary>
              <Suspense fallback={<PageSkeleton />}>{children ?? <Outlet />}</Suspense>
            </ErrorBoundary>
          </main>
        </div>
      </div>
      {target === null || Search === null ? null : <Search target={target} />}
      <Keyboard target={target} />
      {StepUpDialog === null ? null : <StepUpDialog />}
      <Announcer />
    </div>
  )
}
