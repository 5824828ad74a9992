import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'

/** Catches what a page throws while it is drawn, also code that could not be loaded behind a new version. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return (
      <div className="pm-page" role="alert">
        <h1>This page could not be shown</h1>
        <p className="pm-muted">Nothing was changed. A new version may have been installed meanwhile.</p>
        <div className="pm-row pm-gap-top">
          <Button onClick={() => window.location.reload()}>Load again</Button>
        </div>
      </div>
    )
  }
}
