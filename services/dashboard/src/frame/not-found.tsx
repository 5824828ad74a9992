import { Link } from 'react-router'
import { Page } from '../parts/page.tsx'

/** For unknown paths; a foreign workspace looks the same as an unknown one. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>We can’t find this page. It may belong to another workspace, or to the other mode (live or test).</p>
      <p className="pm-gap-top">
        <Link to="/">Go to the overview</Link>
      </p>
    </Page>
  )
}
