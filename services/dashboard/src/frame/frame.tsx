import { type ReactNode, Suspense } from 'react'
import { Outlet } from 'react-router'
import { useLive } from '../live/use-live.ts'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { StepUpDialog } from '../parts/step-up-dialog.tsx'
import { Announcer } from './announcer.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Keyboard } from './keyboard.tsx'
import { Navigation } from './navigation.tsx'
import { OfflineNote } from './offline-note.tsx'
import { Search } from './search.tsx'
import type { NavigationTarget } from './target.ts'
import { TopBar } from './top-bar.tsx'

/** What is around every page of a signed-in person. In test mode it cannot be overlooked: band, stripes, frame. */
export function Frame({
  target,
  children,
}: {
  readonly target: NavigationTarget | null
  readonly children?: ReactNode
}) {
  const test = target?.mode === 'test'
  useLive(target?.workspaceId, target?.mode)
  return (
    <div className={test ? 'pm-body pm-test' : 'pm-body'}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      {test ? (
        <aside className="pm-test-band" aria-label="Test mode">
          <b>TEST MODE</b>
          <span>Sandbox data. No invoice here moves real money.</span>
        </aside>
      ) : null}
      <div className="pm-app">
        <Navigation target={target} />
        <div className="pm-column">
          <TopBar target={target} />
          <OfflineNote />
          <main id="main" className="pm-main" tabIndex={-1}>
            <ErrorBoundary>
              <Suspense fallback={<PageSkeleton />}>{children ?? <Outlet />}</Suspense>
            </ErrorBoundary>
          </main>
        </div>
      </div>
      {target === null ? null : <Search target={target} />}
      <Keyboard target={target} />
      <StepUpDialog />
      <Announcer />
    </div>
  )
}
