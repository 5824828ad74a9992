import { useQuery } from '@tanstack/react-query'
import { Navigate, Outlet, useLocation } from 'react-router'
import { failureOf } from '../api/failure.ts'
import { LoadError } from '../parts/load-error.tsx'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { SessionContext } from './session.ts'
import { sessionQuery } from './session-query.ts'

/**
 * Shows its pages to a signed-in person and redirects everyone else to the login and back. A session that ends while a page is open asks
 * for a log-in above the page, which stays as it is.
 */
export function SessionGuard() {
  const location = useLocation()
  const session = useQuery(sessionQuery)
  const isRefused = failureOf(session.error).code === 'UNAUTHORIZED'
  const hasEnded = session.data !== undefined && isRefused
  const LogInAgain = useLoaded(hasEnded, async () => (await import('../pages/login/log-in-again.tsx')).LogInAgain)
  if (session.data !== undefined) {
    return (
      <SessionContext value={session.data}>
        <Outlet />
        {hasEnded && LogInAgain !== null ? <LogInAgain email={session.data.email} /> : null}
      </SessionContext>
    )
  }
  if (session.isPending) return <PageSkeleton />
  if (isRefused) {
    const back = `${location.pathname}${location.search}`
    return <Navigate to={back === '/' ? '/login' : `/login?back=${encodeURIComponent(back)}`} replace />
  }
  return (
    <main className="pm-alone">
      <LoadError what="your session" error={session.error} onRetry={() => void session.refetch()} />
    </main>
  )
}
