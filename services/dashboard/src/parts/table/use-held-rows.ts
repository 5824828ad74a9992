import { use, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { PlaceContext } from '../../session/scope.ts'
import { lastOwnChangeAt } from '../own-changes.ts'
import { type Shown, showRows } from './held-rows.ts'

/** What holding rows needs of a query of TanStack. */
export interface RowsQuery {
  readonly isPending: boolean
  readonly isFetching?: boolean
  readonly isPlaceholderData?: boolean
  readonly dataUpdatedAt?: number
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Rows of a list as they are shown. */
interface HeldList<T> {
  readonly shown: readonly T[]
  /** New rows that are not shown yet. */
  readonly waiting: number
  /** The rows belong to the list before this one, whose rows are still loading: nobody may take them for this list's. */
  readonly isOld: boolean
  readonly release: () => void
}

/**
 * Rows that move only when somebody expects it (`showRows`). The address names the list: its workspace, its mode and everything in
 * its query, cursor included, but `detailParam`, so that a new filter can never show the rows of the one before it. `release` shows what waits.
 */
export function useHeldRows<T>(
  query: RowsQuery,
  rows: readonly T[],
  idOf: (row: T) => string,
  detailParam: string | undefined,
): HeldList<T> {
  const [released, setReleased] = useState(0)
  const last = useRef<Shown<T> | null>(null)
  const key = `${useListName(detailParam)} ${released}`
  const now = {
    key,
    rows,
    answeredAt: query.dataUpdatedAt ?? 0,
    isFetching: query.isFetching === true,
    isPlaceholder: query.isPlaceholderData === true,
    ownChangeAt: lastOwnChangeAt(),
  }
  const next = query.isPending ? null : showRows(last.current, now, idOf)
  last.current = next
  const { shown, waiting } = next ?? { shown: rows, waiting: 0 }
  return { shown, waiting, isOld: next?.key === null, release: () => setReleased((times) => times + 1) }
}

/** Names the list of an address: the same name means the same rows, whatever else the address opens beside them. */
function useListName(detailParam: string | undefined): string {
  const place = use(PlaceContext)
  const [params] = useSearchParams()
  const asked = [...params].filter(([name]) => name !== detailParam).sort()
  return JSON.stringify([place?.workspaceId, place?.mode, asked])
}
