import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { useLocation } from 'react-router'

/** Catches errors while a page is rendered, and code that could not be loaded after an update. The next address is rendered again. */
export function ErrorBoundary({ children }: { readonly children: ReactNode }) {
  return <Boundary at={useLocation().pathname}>{children}</Boundary>
}

interface State {
  readonly brokenAt: string | null
  readonly hasFailed: boolean
}

class Boundary extends Component<{ readonly at: string; readonly children: ReactNode }, State> {
  override state: State = { brokenAt: null, hasFailed: false }

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true }
  }

  static getDerivedStateFromProps(
    { at }: { readonly at: string },
    { brokenAt, hasFailed }: State,
  ): Partial<State> | null {
    if (!hasFailed) return null
    if (brokenAt === null) return { brokenAt: at }
    return brokenAt === at ? null : { brokenAt: null, hasFailed: false }
  }

  override render() {
    return this.state.hasFailed ? <BrokenPage /> : this.props.children
  }
}

function BrokenPage() {
  return (
    <div className="pm-page" role="alert">
      <h1>Something went wrong on this page</h1>
      <p className="pm-muted">No changes were made. Paymesh may have just been updated.</p>
      <div className="pm-row pm-gap-top">
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </div>
    </div>
  )
}
