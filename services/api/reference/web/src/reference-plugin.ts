import { searchOperations } from './search-operations.ts'

/** The React of Swagger UI, as far as the plugin draws with it. */
interface React {
  createElement(name: string, props: Readonly<Record<string, unknown>>): unknown
}

/** State and actions of Swagger UI that its own search field has as well. */
interface FilterProps {
  readonly layoutSelectors: { currentFilter(): unknown }
  readonly layoutActions: { updateFilter(phrase: string): void }
}

/** A plugin of Swagger UI: https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/. */
export type ReferencePlugin = (system: { readonly React: React }) => {
  readonly fn: Readonly<Record<string, unknown>>
  readonly components: Readonly<Record<string, (props: FilterProps) => unknown>>
}

/** A search over operations instead of names of tags, and no place for an API key: keys are secrets of a server. */
export const referencePlugin: ReferencePlugin = ({ React }) => ({
  fn: { opsFilter: searchOperations },
  components: { authorizeBtn: nothing, authorizeOperationBtn: nothing, FilterContainer: searchField(React) },
})

const nothing = () => null

function searchField(React: React) {
  return ({ layoutSelectors, layoutActions }: FilterProps) => {
    const phrase = layoutSelectors.currentFilter()
    return React.createElement('input', {
      type: 'search',
      className: 'wrapper search',
      'aria-label': 'Search operations',
      placeholder: 'Search operations',
      value: typeof phrase === 'string' ? phrase : '',
      onChange: ({ target }: { readonly target: HTMLInputElement }) => layoutActions.updateFilter(target.value),
    })
  }
}
