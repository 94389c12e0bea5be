export { formatAmount } from '../../../libs/domain/money.js';
