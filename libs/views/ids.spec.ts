import { parsePublicId, publicId } from './ids.js';

const uuid = '01a1fde0-3d8b-7ee9-b863-83623a3a2c14';

describe('public ids', () => {
  it('carry kind and environment and lead back to the row', () => {
    const id = publicId('webhook_endpoint', 'staging', uuid);
    expect(id).toBe('webhook_endpoint_stg_01m7yy0fcbfvmvgrw3c8x3mb0m');
    expect(parsePublicId('webhook_endpoint', 'staging', id)).toBe(uuid);
  });

  it.each([
    ['another environment', 'cus_prod_01m7yy0fcbfvmvgrw3c8x3mb0m'],
    ['another kind', 'pm_stg_01m7yy0fcbfvmvgrw3c8x3mb0m'],
    ['upper case', 'cus_stg_01M7YY0FCBFVMVGRW3C8X3MB0M'],
    ['a letter outside the alphabet', 'cus_stg_01m7yy0fcbfvmvgrw3c8x3mb0u'],
    ['an overflowing suffix', 'cus_stg_zzzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['too short', 'cus_stg_01m7yy0f'],
    ['empty', ''],
  ])('refuse %s', (_what, id) => {
    expect(parsePublicId('cus', 'staging', id)).toBeNull();
  });
});
