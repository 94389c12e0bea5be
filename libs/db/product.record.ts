import { productView } from '../views/product.view.js';
import type { RecordKind } from './record.writes.js';
import { products } from './schema/index.js';

export const productKind: RecordKind<typeof products> = { table: products, kind: 'product', name: 'product', view: productView };
