import { Link } from 'react-router'
import { type Failure, sentenceOf, shownMessage } from '../../api/failure.ts'
import { Note } from '../card.tsx'
import { CopyText } from '../copy-text.tsx'
import { WithTimes } from '../time.tsx'

/** The name of a field for people: `customer.email` → `Customer email`, `events.2` → `Events`. */
function fieldLabel(path: string): string {
  const words = path.split(/[._]/).filter((word) => word !== '' && !/^\d+$/.test(word))
  return sentenceOf(
    words
      .join(' ')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase() || 'input',
    '',
  )
}

/** Why an action failed; a conflict is not an error: another person was faster, and nothing was done twice. */
export function ActionFailure({ failure }: { readonly failure: Failure | null }) {
  if (failure === null || failure.needsStepUp) return null
  return (
    <div role="alert" className="pm-gap-top">
      <Note tone={failure.code === 'CONFLICT' ? 'pending' : 'danger'}>
        <p>
          <WithTimes text={shownMessage(failure)} />
        </p>
        {Object.entries(failure.needsAuthenticator ? {} : failure.fields).map(([path, words]) => (
          <p key={path} className="pm-small">
            {fieldLabel(path)}: {words}
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
