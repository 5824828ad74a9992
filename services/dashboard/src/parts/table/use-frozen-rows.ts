import { use, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { PlaceContext } from '../../session/scope.ts'
import { lastOwnChangeAt } from '../own-changes.ts'
import { type ShownRows, showRows } from './frozen-rows.ts'

/** Fields of a TanStack query that are needed here. */
export interface RowsQuery {
  readonly isPending: boolean
  readonly isFetching?: boolean
  readonly isPlaceholderData?: boolean
  readonly dataUpdatedAt?: number
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Rows of a list as displayed. */
interface HeldList<T> {
  readonly shown: readonly T[]
  /** New rows that are not shown yet. */
  readonly waiting: number
  /** The rows belong to the previous list while this one is loading: they must not be used. */
  readonly isOld: boolean
  readonly release: () => void
}

/**
 * Rows that move only when the person expects it (`showRows`). The URL identifies the list: its workspace, its mode and all query
 * parameters, cursor included, except `detailParam`, so that a new filter can never show the previous rows. `release` shows the waiting rows.
 */
export function useFrozenRows<T>(
  query: RowsQuery,
  rows: readonly T[],
  idOf: (row: T) => string,
  detailParam: string | undefined,
): HeldList<T> {
  const [released, setReleased] = useState(0)
  const last = useRef<ShownRows<T> | null>(null)
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

/** Key of the list of a URL: the same key means the same rows, whatever detail the URL opens next to them. */
function useListName(detailParam: string | undefined): string {
  const place = use(PlaceContext)
  const [params] = useSearchParams()
  const filters = [...params].filter(([name]) => name !== detailParam).sort()
  return JSON.stringify([place?.workspaceId, place?.mode, filters])
}
