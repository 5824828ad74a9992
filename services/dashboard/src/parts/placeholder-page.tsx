import { EmptyState } from './empty-state.tsx'
import { Page } from './page.tsx'

/** Stands where a page is still to come. */
export function PlaceholderPage({ title }: { readonly title: string }) {
  return (
    <Page title={title}>
      <EmptyState title="This page is not there yet." />
    </Page>
  )
}
