import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { failureOf } from '../api/failure.ts'
import { CopyText } from './copy-text.tsx'

/** What a page or card shows when its data did not come. `what` ends the sentence "Could not load …". */
export function LoadError(props: { readonly what: string; readonly error: unknown; readonly onRetry?: () => void }) {
  const failure = failureOf(props.error)
  const absent = failure.code === 'NOT_FOUND'
  return (
    <div className="pm-load-error" role="alert">
      <IconAlertTriangle size={18} aria-hidden />
      <div>
        <p>
          {absent
            ? 'Not found. It may belong to another workspace or to test mode.'
            : `Could not load ${props.what}. Nothing was changed.`}
        </p>
        {absent ? null : <p className="pm-muted">{failure.message}</p>}
        <div className="pm-row">
          {props.onRetry === undefined || absent ? null : (
            <Button size="xs" variant="default" onClick={props.onRetry}>
              Try again
            </Button>
          )}
          {failure.requestId === null ? null : (
            <span className="pm-muted pm-row">
              Request <CopyText text={failure.requestId} what="request ID" short />
            </span>
          )}
        </div>
      </div>
    </div>
  )
}
