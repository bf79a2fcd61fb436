!> Fortran interface of GPUNB: the C library, with handles and status codes, one library for any number of instances.
!! gpunb.h says what each call does, gpunb/tree.h what those of trees do. The calls of NBODY6 have names of this
!! library's, so their modules are in gpunb_legacy.f90.
module gpunb
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter, public :: NBC_OK = 0, NBC_NB_OVERFLOW = 1, NBC_BAD_ARGUMENT = 2, NBC_NO_MEMORY = 3, &
        NBC_NON_FINITE = 4, NBC_BAD_STATE = 5, NBC_DEVICE = 9, NBC_UNAVAILABLE = 10
    integer(c_int), parameter, public :: GPUNB_PRECISION_DEFAULT = 0, GPUNB_FLOAT = 1, GPUNB_TWOFLOAT = 2, GPUNB_DOUBLE = 3
    !> enum gpunb_walk
    integer(c_int), parameter, public :: GPUNB_WALK_DEFAULT = 0, GPUNB_WALK_GROUPS = 1, GPUNB_WALK_SINGLE = 2, &
        GPUNB_WALK_ONE_BY_ONE_I = 3, GPUNB_WALK_ONE_BY_ONE_J = 4, GPUNB_WALK_HYBRID = 5, GPUNB_WALK_FMM = 6
    integer(c_int), parameter, public :: GPUNB_MOST_ORDER = 8, GPUNB_DEFAULT_ORDER = 2
    !> enum gpunb_tree_stage: one less than the place in `seconds` of gpunb_tree_counts.
    integer(c_int), parameter, public :: GPUNB_TREE_KEY = 0, GPUNB_TREE_SORT = 1, GPUNB_TREE_LINK = 2, &
        GPUNB_TREE_MOMENTS = 3, GPUNB_TREE_LISTS = 4, GPUNB_TREE_CELLS = 5, GPUNB_TREE_PAIRS = 6, GPUNB_TREE_STAGES = 7

    !> struct nbc_error; error_text makes a string of it.
    type, bind(c), public :: nbc_error
        integer(c_int) :: status = 0
        character(kind=c_char) :: text(4096) = c_null_char
    end type

    !> struct gpunb_options. backend, costs: c_null_ptr, or c_loc of a text that ends with c_null_char. With force_error or theta
    !! above 0 a tree makes softened forces.
    type, bind(c), public :: gpunb_options
        type(c_ptr) :: backend = c_null_ptr
        integer(c_int) :: mass_weighted = 0
        integer(c_int) :: precision = GPUNB_PRECISION_DEFAULT
        real(c_double) :: force_error = 0, theta = 0
        integer(c_int) :: order = 0, leaf = 0, group = 0
        integer(c_int) :: walk = GPUNB_WALK_DEFAULT
        type(c_ptr) :: costs = c_null_ptr
    end type

    !> struct gpunb_backend_info; string_of makes strings of the pointers.
    type, bind(c), public :: gpunb_backend_info
        type(c_ptr) :: name, description
        integer(c_int) :: available
        type(c_ptr) :: reason
        real(c_double) :: ns_per_pair
    end type

    !> struct gpunb_softened_job. x, self, acc_last, acc, pot: c_loc of an array; self, acc_last and pot may stay c_null_ptr.
    !> Source numbers in self count from 0. acc_last may be c_loc of the same array as acc.
    type, bind(c), public :: gpunb_softened_job
        integer(c_size_t) :: n_i = 0
        type(c_ptr) :: x = c_null_ptr, self = c_null_ptr
        real(c_double) :: softening = 0
        type(c_ptr) :: acc_last = c_null_ptr, acc = c_null_ptr, pot = c_null_ptr
        integer(c_int64_t) :: build = 0
    end type

    !> struct gpunb_stats
    type, bind(c), public :: gpunb_stats
        integer(c_int64_t) :: calls = 0, targets = 0, interactions = 0
        real(c_double) :: seconds_send = 0, seconds_regf = 0, seconds_potential = 0
        integer(c_int64_t) :: bytes_sent = 0, bytes_received = 0
    end type

    !> struct gpunb_tree_counts
    type, bind(c), public :: gpunb_tree_counts
        integer(c_int64_t) :: builds = 0, renewals = 0, forces = 0
        integer(c_int64_t) :: targets = 0, groups = 0
        integer(c_int64_t) :: tests = 0
        integer(c_int64_t) :: listed_cells = 0, listed_bodies = 0
        integer(c_int64_t) :: cell_terms = 0, pair_terms = 0, local_terms = 0
        integer(c_int64_t) :: first_forces = 0
        real(c_double) :: seconds(GPUNB_TREE_STAGES) = 0
    end type

    public :: gpunb_backend, gpunb_create, gpunb_free, gpunb_info, gpunb_last_error, gpunb_reserve, gpunb_send, &
        gpunb_set_jp, gpunb_clear_jp, gpunb_predict, gpunb_regf, gpunb_potential, gpunb_get_stats, gpunb_send_positions, &
        gpunb_softened, gpunb_softened_pairs, gpunb_tree_is_worth, gpunb_tree_build, gpunb_tree_build_moved, &
        gpunb_tree_renew, gpunb_tree_force, gpunb_tree_free, gpunb_tree_least_error, &
        gpunb_tree_stage_name, gpunb_tree_get_counts, gpunb_tree_shape, &
        error_text, string_of

    interface
        !> c_f_pointer turns the result into a pointer to gpunb_backend_info; null past the end of the table.
        function gpunb_backend(k) bind(c) result(info)
            import :: c_int, c_ptr
            integer(c_int), value :: k
            type(c_ptr) :: info
        end function

        function gpunb_create(handle, n_j_max, options, err) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t, gpunb_options, nbc_error
            type(c_ptr), intent(out) :: handle
            integer(c_size_t), value :: n_j_max
            type(gpunb_options), intent(in) :: options
            type(nbc_error), intent(out) :: err
            integer(c_int) :: status
        end function

        subroutine gpunb_free(handle) bind(c)
            import :: c_ptr
            type(c_ptr), value :: handle
        end subroutine

        function gpunb_info(handle) bind(c) result(info)
            import :: c_ptr
            type(c_ptr), value :: handle
            type(c_ptr) :: info
        end function

        !> string_of makes a string of the result.
        function gpunb_last_error(handle) bind(c) result(text)
            import :: c_ptr
            type(c_ptr), value :: handle
            type(c_ptr) :: text
        end function

        function gpunb_send(handle, n_j, mass, x, v) bind(c) result(status)
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_j
            real(c_double), intent(in) :: mass(*), x(3, *), v(3, *)
            integer(c_int) :: status
        end function

        function gpunb_send_positions(handle, n_j, mass, x) bind(c) result(status)
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_j
            real(c_double), intent(in) :: mass(*), x(3, *)
            integer(c_int) :: status
        end function

        !> Nothing of job changes, but what it points to does: of an argument that is `intent(in)` gfortran 12 believes that
        !> neither can.
        function gpunb_softened(handle, job) bind(c) result(status)
            import :: c_int, c_ptr, gpunb_softened_job
            type(c_ptr), value :: handle
            type(gpunb_softened_job), intent(inout) :: job
            integer(c_int) :: status
        end function

        function gpunb_reserve(handle, n_j_max) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_j_max
            integer(c_int) :: status
        end function

        !> j counts from 0; acc and jerk are the derivatives themselves, not F/2 and FDOT/6.
        function gpunb_set_jp(handle, j, x, v, acc, jerk, mass, t0) bind(c) result(status)
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: j
            real(c_double), intent(in) :: x(3), v(3), acc(3), jerk(3)
            real(c_double), value :: mass, t0
            integer(c_int) :: status
        end function

        !> j counts from 0.
        function gpunb_clear_jp(handle, j) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: j
            integer(c_int) :: status
        end function

        function gpunb_predict(handle, n_j, t) bind(c) result(status)
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_j
            real(c_double), value :: t
            integer(c_int) :: status
        end function

        !> self, pot: c_loc of an array, or c_null_ptr. Source numbers in self and nblist count from 0.
        function gpunb_regf(handle, n_i, self, r_nb2, dt_reg, x_i, v_i, acc, jerk, pot, nb_cap, nnb, nblist) bind(c) &
            result(status)
            import :: c_double, c_int, c_int32_t, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_i
            type(c_ptr), value :: self
            real(c_double), intent(in) :: r_nb2(*), dt_reg(*), x_i(3, *), v_i(3, *)
            real(c_double), intent(inout) :: acc(3, *), jerk(3, *)
            type(c_ptr), value :: pot
            integer(c_size_t), value :: nb_cap
            integer(c_int32_t), intent(inout) :: nnb(*), nblist(nb_cap, *)
            integer(c_int) :: status
        end function

        !> i_first counts from 0.
        function gpunb_potential(handle, i_first, n_i, n, mass, x, pot) bind(c) result(status)
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: i_first, n_i, n
            real(c_double), intent(in) :: mass(*), x(3, *)
            real(c_double), intent(inout) :: pot(*)
            integer(c_int) :: status
        end function

        subroutine gpunb_get_stats(handle, stats) bind(c)
            import :: c_ptr, gpunb_stats
            type(c_ptr), value :: handle
            type(gpunb_stats), intent(inout) :: stats
        end subroutine

        !> direct is the result of C: the cost of direct sums.
        function gpunb_softened_pairs(handle, n_i, n_j, by_tree) bind(c) result(direct)
            import :: c_double, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_i, n_j
            real(c_double), intent(out) :: by_tree
            real(c_double) :: direct
        end function

        !> 0: no
        function gpunb_tree_is_worth(handle, n_i, n_j) bind(c) result(is_worth)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: handle
            integer(c_size_t), value :: n_i, n_j
            integer(c_int) :: is_worth
        end function

        !> tree is set on success only; free it before the handle.
        function gpunb_tree_build(handle, tree) bind(c) result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
            type(c_ptr), intent(inout) :: tree
            integer(c_int) :: status
        end function

        function gpunb_tree_build_moved(handle, build, tree) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: handle
            integer(c_int64_t), value :: build
            type(c_ptr), intent(inout) :: tree
            integer(c_int) :: status
        end function

        function gpunb_tree_renew(handle, tree) bind(c) result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: handle, tree
            integer(c_int) :: status
        end function

        !> job as in gpunb_softened
        function gpunb_tree_force(handle, tree, job) bind(c) result(status)
            import :: c_int, c_ptr, gpunb_softened_job
            type(c_ptr), value :: handle, tree
            type(gpunb_softened_job), intent(inout) :: job
            integer(c_int) :: status
        end function

        subroutine gpunb_tree_free(tree) bind(c)
            import :: c_ptr
            type(c_ptr), value :: tree
        end subroutine

        function gpunb_tree_least_error(handle) bind(c) result(least)
            import :: c_double, c_ptr
            type(c_ptr), value :: handle
            real(c_double) :: least
        end function

        !> string_of makes a string of the result; null for a number that is no stage.
        function gpunb_tree_stage_name(stage) bind(c) result(name)
            import :: c_int, c_ptr
            integer(c_int), value :: stage
            type(c_ptr) :: name
        end function

        subroutine gpunb_tree_get_counts(handle, counts) bind(c)
            import :: c_ptr, gpunb_tree_counts
            type(c_ptr), value :: handle
            type(gpunb_tree_counts), intent(inout) :: counts
        end subroutine

        subroutine gpunb_tree_shape(tree, cells, depth, largest_leaf, bytes) bind(c)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: tree
            integer(c_size_t), intent(out) :: cells
            integer(c_int), intent(out) :: depth
            integer(c_size_t), intent(out) :: largest_leaf, bytes
        end subroutine
    end interface

contains

    !> The message of an error.
    function error_text(err) result(text)
        type(nbc_error), intent(in), target :: err
        character(len=:), allocatable :: text
        text = string_of(c_loc(err%text))
    end function

    !> The Fortran string of a C string; empty for a null pointer.
    function string_of(pointer) result(text)
        type(c_ptr), intent(in) :: pointer
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: n, k
        n = 0
        if (c_associated(pointer)) then
            call c_f_pointer(pointer, bytes, [huge(0)])
            do while (bytes(n + 1) /= c_null_char)
                n = n + 1
            end do
        end if
        allocate (character(len=n) :: text)
        do k = 1, n
            text(k:k) = bytes(k)
        end do
    end function

end module gpunb
