import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Products. */
export function ProductsPage() {
  return <PlaceholderPage title="Products" />
}
