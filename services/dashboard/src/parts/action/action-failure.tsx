import { Link } from 'react-router'
import type { Failure } from '../../api/failure.ts'
import { Note } from '../card.tsx'
import { CopyText } from '../copy-text.tsx'
import { WithTimes } from '../time.tsx'

/** Why an action failed; a conflict is not an error: another person was faster, and nothing was done twice. */
export function ActionFailure({ failure }: { readonly failure: Failure | null }) {
  if (failure === null || failure.needsStepUp) return null
  return (
    <div role="alert" className="pm-gap-top">
      <Note tone={failure.code === 'CONFLICT' ? 'pending' : 'danger'}>
        <p>
          <WithTimes text={failure.message} />
        </p>
        {Object.entries(failure.needsAuthenticator ? {} : failure.fields).map(([path, words]) => (
          <p key={path} className="pm-small">
            {path}: {words}
          </p>
        ))}
        {failure.needsAuthenticator ? (
          <p>
            <Link to="/account">Turn on two-factor authentication</Link>
          </p>
        ) : null}
        {failure.code === 'OFFLINE' ? <p>Try again: it won’t run twice.</p> : null}
        {failure.requestId === null || failure.code === 'CONFLICT' ? null : (
          <p className="pm-small">
            Request <CopyText text={failure.requestId} what="request ID" short />
          </p>
        )}
      </Note>
    </div>
  )
}
