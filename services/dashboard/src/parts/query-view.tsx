import { type ReactNode, useState } from 'react'
import { failureOf } from '../api/failure.ts'
import { serverTime } from '../first/server-time.ts'
import { showTime } from '../format/time.ts'
import { LoadError } from './load-error.tsx'
import { LOAD_WORDS, type LoadWords } from './load-words.ts'
import { Page } from './page.tsx'
import { PageSkeleton, RowsSkeleton } from './page-skeleton.tsx'
import { ZONE } from './time.tsx'

/** What is shown of a query of TanStack. */
export interface ShownQuery<T> {
  readonly data: T | undefined
  /** When `data` was read, milliseconds since 1970. */
  readonly dataUpdatedAt: number
  readonly error: unknown
  readonly isPending: boolean
  refetch(): Promise<unknown>
}

/**
 * A part of a page that a query fills: a skeleton, then its data. A failure says why. What was read stays when a later read fails, under a
 * note that says so; it goes when the server answers that it is not there any more, and only newer data takes its place. `what` ends the
 * sentence "Could not load …"; `title` is that of a page whose own title is in the data.
 */
export function QueryView<T>(props: {
  readonly query: ShownQuery<T>
  readonly what: string
  readonly title?: string
  readonly skeleton?: ReactNode
  readonly words?: LoadWords
  readonly children: (data: T) => ReactNode
}) {
  const { query, what, title, words = LOAD_WORDS, skeleton = <RowsSkeleton rows={5} /> } = props
  const { data, dataUpdatedAt, error, isPending } = query
  const [goneAt, setGoneAt] = useState<number | null>(null)
  const isGone = goneAt === dataUpdatedAt || (error !== null && failureOf(error).code === 'NOT_FOUND')
  if (isGone && goneAt !== dataUpdatedAt) setGoneAt(dataUpdatedAt)
  const time = showTime(serverTime(dataUpdatedAt), { zone: ZONE, now: serverTime() })
  const sentence = data === undefined ? undefined : isGone ? words.removed : words.old(what, time)
  const failure = <LoadError {...{ what, error, words, sentence }} onRetry={() => void query.refetch()} />
  if (data !== undefined && !isGone) {
    return (
      <>
        {error === null ? null : failure}
        {props.children(data)}
      </>
    )
  }
  if (title !== undefined) return <Page title={title}>{isPending ? <PageSkeleton /> : failure}</Page>
  return isPending ? skeleton : failure
}
