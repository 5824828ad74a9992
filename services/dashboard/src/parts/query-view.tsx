import type { ReactNode } from 'react'
import { failureOf } from '../api/failure.ts'
import { showTime } from '../format/time.ts'
import type { Language } from '../words/language.ts'
import { LoadError } from './load-error.tsx'
import { Page } from './page.tsx'
import { PageSkeleton, RowsSkeleton } from './page-skeleton.tsx'
import { ZONE } from './time.tsx'

/** Of what was read and could not be read again: what the note above it says, and what stands in its place once it is gone. */
const WORDS: Readonly<Record<Language, { old(what: string, time: string): string; readonly removed: string }>> = {
  en: {
    old: (what, time) => `Could not refresh ${what}. You see what was read at ${time}.`,
    removed: 'It is no longer here: it was removed, or you may no longer see it.',
  },
  es: {
    old: (what, time) => `No se pudo actualizar ${what}. Ves lo que se leyó a las ${time}.`,
    removed: 'Ya no está: se eliminó o ya no tienes acceso.',
  },
  pt: {
    old: (what, time) => `Não foi possível atualizar ${what}. Você vê o que foi lido às ${time}.`,
    removed: 'Não está mais aqui: foi removido ou você não tem mais acesso.',
  },
}

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
  const isGone = error !== null && failureOf(error).code === 'NOT_FOUND'
  const words = WORDS[language ?? 'en']
  const time = showTime(dataUpdatedAt, { zone: ZONE, now: Date.now() })
  const sentence = data === undefined ? undefined : isGone ? words.removed : words.old(what, time)
  const failure = <LoadError {...{ what, error, language, sentence }} onRetry={() => void query.refetch()} />
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
