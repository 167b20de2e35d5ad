//! Small linear systems: a dense Cholesky factor, and elimination for systems of a few unknowns.

/// The lower factor `L` of `A = L Lᵀ`, row after row.
#[derive(Debug)]
pub(super) struct Cholesky {
    lower: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Factors a symmetric matrix of which the lower triangle is given. `None` if it is not positive definite.
    #[expect(
        clippy::indexing_slicing,
        reason = "every index is below size², the length that is checked first"
    )]
    pub(super) fn of(mut matrix: Vec<f64>, size: usize) -> Option<Self> {
        if matrix.len() != size * size {
            return None;
        }
        for row in 0..size {
            for column in 0..=row {
                let (above, own) = matrix.split_at(row * size);
                let left = if column == row { own } else { &above[column * size..] };
                let dot: f64 = left[..column].iter().zip(&own[..column]).map(|(a, b)| a * b).sum();
                let rest = matrix[row * size + column] - dot;
                if column < row {
                    matrix[row * size + column] = rest / matrix[column * size + column];
                } else if rest > 0.0 && rest.is_finite() {
                    matrix[row * size + row] = rest.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Self { lower: matrix, size })
    }

    /// `A⁻¹ b`.
    #[expect(clippy::indexing_slicing, reason = "rows and columns are below size; b is made that long")]
    pub(super) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let size = self.size;
        b.resize(size, 0.0);
        for row in 0..size {
            let own = &self.lower[row * size..row * size + row];
            let dot: f64 = own.iter().zip(&b).map(|(l, x)| l * x).sum();
            b[row] = (b[row] - dot) / self.lower[row * size + row];
        }
        for row in (0..size).rev() {
            b[row] /= self.lower[row * size + row];
            let solved = b[row];
            let own = &self.lower[row * size..row * size + row];
            for (x, l) in b.iter_mut().zip(own) {
                *x -= l * solved;
            }
        }
        b
    }

    /// `A⁻¹`, row after row.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let unit = |place: usize| (0..self.size).map(|i| f64::from(u8::from(i == place))).collect();
        (0..self.size).flat_map(|place| self.solve(unit(place))).collect()
    }
}

/// Solves `A x = b` in place by elimination with pivots; `None` if `A` is singular.
#[expect(clippy::indexing_slicing, reason = "A has n² entries for the n of b, which is checked first")]
pub(super) fn solve_small(a: &mut [f64], b: &mut [f64]) -> Option<()> {
    let n = b.len();
    if a.len() != n * n {
        return None;
    }
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))?;
        let size = a[pivot * n + column];
        if size.abs() < f64::MIN_POSITIVE || !size.is_finite() {
            return None;
        }
        for k in 0..n {
            a.swap(column * n + k, pivot * n + k);
        }
        b.swap(column, pivot);
        for row in 0..n {
            if row != column {
                let factor = a[row * n + column] / a[column * n + column];
                for k in column..n {
                    a[row * n + k] -= factor * a[column * n + k];
                }
                b[row] -= factor * b[column];
            }
        }
    }
    for row in 0..n {
        b[row] /= a[row * n + row];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Cholesky, solve_small};

    #[test]
    fn solutions_solve() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let b = [1.0, -2.0, 0.5];
        let by_factor = Cholesky::of(matrix.to_vec(), 3).unwrap().solve(b.to_vec());
        let mut by_elimination = b;
        solve_small(&mut matrix.to_vec(), &mut by_elimination).unwrap();
        for row in 0..3 {
            let back: f64 = (0..3).map(|k| matrix[row * 3 + k] * by_factor[k]).sum();
            assert!((back - b[row]).abs() < 1e-12 && (by_factor[row] - by_elimination[row]).abs() < 1e-12);
        }
        let inverse = Cholesky::of(matrix.to_vec(), 3).unwrap().inverse();
        let unit: f64 = (0..3).map(|k| matrix[k] * inverse[k * 3]).sum();
        assert!((unit - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_solution_is_refused() {
        assert!(Cholesky::of(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::of(vec![1.0], 2).is_none());
        assert!(solve_small(&mut [1.0, 1.0, 1.0, 1.0], &mut [1.0, 1.0]).is_none());
        assert!(solve_small(&mut [1.0], &mut [1.0, 1.0]).is_none());
    }
}
