import { Button } from '@mantine/core'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { failureOf } from '../api/failure.ts'
import { routerOf } from '../live/live-query.ts'
import { shownErrors } from '../parts/load-error.tsx'

/** Longer than a part of the page takes to say its own failure. */
const SETTLE_MS = 100

/** A log-in is requested for a session that ended, and the search says its own failures. */
const isUnread = ({ queryKey, state }: Query): boolean =>
  state.status === 'error' &&
  routerOf(queryKey) !== '' &&
  failureOf(state.error).code !== 'UNAUTHORIZED' &&
  !shownErrors.has(Object(state.error))

/**
 * Above every page: that a read failed, where no part of the page says so. Without it what such a read fills would look like an answer with
 * nothing in it: a choice without entries, a count of zero.
 */
export function UnreadNote() {
  const client = useQueryClient()
  const [isPartial, setPartial] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const cache = client.getQueryCache()
    const end = cache.subscribe(() => {
      clearTimeout(timer)
      timer = setTimeout(() => setPartial(cache.findAll({ type: 'active', predicate: isUnread }).length > 0), SETTLE_MS)
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [client])
  if (!isPartial) return null
  return (
    <div className="pm-offline" role="alert">
      Could not load a part of this page. What looks empty or missing here may still exist.
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void client.refetchQueries({ type: 'active', predicate: isUnread })}
      >
        Try again
      </Button>
    </div>
  )
}
