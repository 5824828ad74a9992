import { useQuery } from '@tanstack/react-query'
import { Navigate, Outlet, useLocation } from 'react-router'
import { failureOf } from '../api/failure.ts'
import { LoadError } from '../parts/load-error.tsx'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { SessionContext } from './session.ts'
import { sessionQuery } from './session-query.ts'

/** Shows its pages to a signed-in person and redirects everyone else to the login and back. */
export function SessionGuard() {
  const location = useLocation()
  const session = useQuery(sessionQuery)
  if (session.data !== undefined && failureOf(session.error).code !== 'UNAUTHORIZED') {
    return (
      <SessionContext value={session.data}>
        <Outlet />
      </SessionContext>
    )
  }
  if (session.isPending) return <PageSkeleton />
  if (failureOf(session.error).code === 'UNAUTHORIZED') {
    const back = `${location.pathname}${location.search}`
    return <Navigate to={back === '/' ? '/login' : `/login?back=${encodeURIComponent(back)}`} replace />
  }
  return (
    <main className="pm-alone">
      <LoadError what="your session" error={session.error} onRetry={() => void session.refetch()} />
    </main>
  )
}
