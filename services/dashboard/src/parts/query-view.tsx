import type { ReactNode } from 'react'
import { failureOf } from '../api/failure.ts'
import type { Language } from '../words/language.ts'
import { LoadError } from './load-error.tsx'
import { Page } from './page.tsx'
import { PageSkeleton, RowsSkeleton } from './page-skeleton.tsx'

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
 * note that says so; it goes when the server answers that it is not there any more. `what` ends the sentence "Could not load …"; `title` is
 * that of a page whose own title is in the data.
 */
export function QueryView<T>(props: {
  readonly query: ShownQuery<T>
  readonly what: string
  readonly title?: string
  readonly skeleton?: ReactNode
  readonly language?: Language
  readonly children: (data: T) => ReactNode
}) {
  const { query, what, title, language, skeleton = <RowsSkeleton rows={5} /> } = props
  const { data, dataUpdatedAt, error, isPending } = query
  const failure = (
    <LoadError
      {...{ what, error, language }}
      readAt={data === undefined ? null : dataUpdatedAt}
      onRetry={() => void query.refetch()}
    />
  )
  if (data !== undefined && (error === null || failureOf(error).code !== 'NOT_FOUND')) {
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
