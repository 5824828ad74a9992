import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { failureOf, shownMessage } from '../api/failure.ts'
import { CopyText } from './copy-text.tsx'
import { LOAD_WORDS, type LoadWords } from './load-words.ts'

/** Errors that a part of the page has shown. */
export const shownErrors = new WeakSet<object>()

/**
 * Shown by a page or card whose data failed to load. `what` ends the sentence "Could not load …" in the language of `words`: English
 * unless stated. The server's own sentences are English.
 */
export function LoadError(props: {
  readonly what: string
  readonly error: unknown
  readonly onRetry?: () => void
  readonly words?: LoadWords | undefined
  /** In place of what it says by itself. */
  readonly sentence?: string | undefined
}) {
  const { words = LOAD_WORDS } = props
  const failure = failureOf(props.error)
  shownErrors.add(Object(props.error))
  // An id that is none is as unknown as any other.
  const absent = failure.code === 'NOT_FOUND' || (failure.code === 'BAD_REQUEST' && 'id' in failure.fields)
  const sentence = props.sentence ?? (absent ? words.absent : words.failed(props.what))
  return (
    <div className="pm-load-error" role="alert">
      <IconAlertTriangle size={18} aria-hidden />
      <div>
        <p>{sentence}</p>
        {absent ? null : failure.code === 'OFFLINE' ? (
          <p className="pm-muted">{words.offline}</p>
        ) : (
          <p className="pm-muted" lang="en">
            {shownMessage(failure)}
          </p>
        )}
        <div className="pm-row">
          {props.onRetry === undefined || absent ? null : (
            <Button size="xs" variant="default" onClick={props.onRetry}>
              {words.retry}
            </Button>
          )}
          {failure.requestId === null ? null : (
            <span className="pm-muted pm-row">
              {words.request} <CopyText text={failure.requestId} what="request ID" short />
            </span>
          )}
        </div>
      </div>
    </div>
  )
}
