import { Link } from 'react-router'
import { Page } from '../parts/page.tsx'

/** For addresses that lead nowhere; a foreign workspace looks the same as an unknown one. */
export function NotFound() {
  return (
    <Page title="Not found">
      <p>There is nothing at this address. It may belong to another workspace or to test mode.</p>
      <p className="pm-gap-top">
        <Link to="/">Go to the overview</Link>
      </p>
    </Page>
  )
}
